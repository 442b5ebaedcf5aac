/** Writes one fixed moment as Python's `strftime` does in the C locale, in UTC. */

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

/** `now` in milliseconds since 1970. Throws on a directive that it does not know. */
export function strftime(now: number, format: string): string {
  const date = new Date(now);
  return format.replace(/%(-?)([\s\S]?)/g, (directive, dash: string, letter: string) => {
    const text = writeField(date, letter);
    if (text === null) {
      throw new Error(
        `Expected a strftime directive out of YymdeBbAaHIMSpjZ%, seen "${directive}"; use one of these`,
      );
    }
    return dash === "-" ? text.replace(/^[0 ]+(?=\d)/, "") : text;
  });
}

function writeField(date: Date, letter: string): string | null {
  const hour = date.getUTCHours();
  switch (letter) {
    case "Y":
      return String(date.getUTCFullYear());
    case "y":
      return pad(date.getUTCFullYear() % 100);
    case "m":
      return pad(date.getUTCMonth() + 1);
    case "d":
      return pad(date.getUTCDate());
    case "e":
      return String(date.getUTCDate()).padStart(2, " ");
    case "B":
      return MONTHS[date.getUTCMonth()] ?? null;
    case "b":
      return MONTHS[date.getUTCMonth()]?.slice(0, 3) ?? null;
    case "A":
      return DAYS[date.getUTCDay()] ?? null;
    case "a":
      return DAYS[date.getUTCDay()]?.slice(0, 3) ?? null;
    case "H":
      return pad(hour);
    case "I":
      return pad(hour % 12 === 0 ? 12 : hour % 12);
    case "M":
      return pad(date.getUTCMinutes());
    case "S":
      return pad(date.getUTCSeconds());
    case "p":
      return hour < 12 ? "AM" : "PM";
    case "j":
      return String(dayOfYear(date)).padStart(3, "0");
    case "Z":
      return "UTC";
    case "%":
      return "%";
    default:
      return null;
  }
}

function pad(value: number): string {
  return String(value).padStart(2, "0");
}

function dayOfYear(date: Date): number {
  const start = Date.UTC(date.getUTCFullYear(), 0, 1);
  return Math.floor((date.getTime() - start) / 86_400_000) + 1;
}
