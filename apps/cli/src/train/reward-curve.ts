/** In: one reward a step. Out: curves of their 10-step mean, as text: a single step varies too much to be looked at. */

const WINDOW = 10;
const BARS = "▁▂▃▄▅▆▇█";

/** Mean of the last ten values at each step (fewer at the start). */
export function movingMean(values: readonly number[], window = WINDOW): readonly number[] {
  return values.map((_, end) => {
    const slice = values.slice(Math.max(0, end + 1 - window), end + 1);
    return slice.reduce((sum, value) => sum + value, 0) / slice.length;
  });
}

/** The last `width` means on one line, from −1 (lowest bar) to +1. */
export function sparkline(rewards: readonly number[], width: number): string {
  return movingMean(rewards)
    .slice(-width)
    .map(
      (mean) =>
        BARS[Math.min(BARS.length - 1, Math.max(0, Math.floor(((mean + 1) / 2) * BARS.length)))],
    )
    .join("");
}

export type ChartSize = { readonly width: number; readonly height: number };

/** A chart of the whole run from −1 to +1, with its axis; steps share columns where there are more than fit. */
export function rewardChart(
  rewards: readonly number[],
  { width, height }: ChartSize = { width: 72, height: 11 },
): readonly string[] {
  const means = movingMean(rewards);
  if (means.length === 0) return [];
  const columns = Math.min(width, means.length);
  const heights = Array.from({ length: columns }, (_, column) => {
    const last = Math.ceil(((column + 1) * means.length) / columns) - 1;
    return Math.round((((means[last] ?? -1) + 1) / 2) * (height - 1));
  });
  const rows = Array.from({ length: height }, (_, row) => {
    const level = height - 1 - row;
    const value = (level / (height - 1)) * 2 - 1;
    const isLabelled = level === 0 || level === height - 1 || level * 2 === height - 1;
    const label = isLabelled ? formatLevel(value) : "";
    return `${label.padStart(6)} ┤${heights.map((top) => (top === level ? "•" : " ")).join("")}`.trimEnd();
  });
  return [
    ...rows,
    `${" ".repeat(7)}└${"─".repeat(columns)}`,
    `${" ".repeat(8)}${axisLabel(means.length, columns)}`,
  ];
}

/** First and last step under the axis; only the last where both would touch. */
function axisLabel(steps: number, columns: number): string {
  const last = String(steps);
  const room = columns - "1".length - last.length;
  return room < 2 ? `${last} steps` : `1${" ".repeat(room)}${last}  steps`;
}

function formatLevel(value: number): string {
  return value < 0 ? `−${Math.abs(value).toFixed(1)}` : `+${value.toFixed(1)}`;
}
