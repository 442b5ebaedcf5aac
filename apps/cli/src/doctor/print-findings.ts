/** In: findings. Out: a table by area for a person, or JSON. */
import { formatPlural } from "../terminal/format.ts";
import type { Paint, Terminal } from "../terminal/terminal.ts";
import { AREAS, type Finding } from "./finding.ts";

const MARKS: Readonly<Record<Finding["state"], readonly [string, Paint]>> = {
  ok: ["ok", "green"],
  note: ["note", "yellow"],
  broken: ["FAIL", "red"],
};

export function printFindings(
  findings: readonly Finding[],
  json: boolean,
  terminal: Terminal,
): void {
  const broken = findings.filter(({ state }) => state === "broken").length;
  if (json) {
    terminal.out(JSON.stringify({ ok: broken === 0, findings }));
    return;
  }
  const width = Math.max(...findings.map(({ name }) => name.length));
  for (const area of AREAS) {
    const own = findings.filter((finding) => finding.area === area);
    if (own.length === 0) continue;
    terminal.out(terminal.paint(area, "bold"));
    for (const { name, state, seen, fix } of own) {
      const [mark, paint] = MARKS[state];
      terminal.out(`  ${terminal.paint(mark.padEnd(4), paint)}  ${name.padEnd(width)}  ${seen}`);
      if (fix !== null) terminal.out(`        ${" ".repeat(width)}  → ${fix}`);
    }
    terminal.out("");
  }
  terminal.out(
    broken === 0
      ? terminal.paint("Nothing is broken", "green", "bold")
      : terminal.paint(`${formatPlural(broken, "part")} cannot be used as it is`, "red", "bold"),
  );
}
