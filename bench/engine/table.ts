/** Rows and verdicts as text. */
import type { Row, Verdict } from "./goals.ts";
import { describeVerified } from "./verify-run.ts";

const COLUMNS: readonly (readonly [string, (row: Row) => string])[] = [
  ["cell", (row) => row.name],
  ["Interlace", (row) => show(row.interlace, 3)],
  ["bare Bun", (row) => show(row.bare, 3)],
  ["Python", (row) => show(row.python, 3)],
  ["÷ bare", (row) => show(row.toBare, 2)],
  ["÷ Python", (row) => show(row.toPython, 2)],
  [
    "wall ÷ critical (bare, Python)",
    ({ toCritical, bareToCritical, pythonToCritical }) =>
      toCritical === null
        ? "–"
        : `${show(toCritical, 3)} (${show(bareToCritical, 3)}, ${show(pythonToCritical, 3)})`,
  ],
  [
    "B per live token (bare, Python)",
    (row) =>
      `${show(row.bytesPerToken, 0)} (${show(row.bareBytesPerToken, 0)}, ${show(row.pythonBytesPerToken, 0)})`,
  ],
  ["Arrow", (row) => `${show(row.arrowShare * 100, 0)}%`],
  ["server", (row) => show(row.server, 3)],
  ["verify", ({ verified }) => (verified === null ? "–" : describeVerified(verified))],
  ["load", (row) => show(row.load, 1)],
];

/** CPU milliseconds per assistant turn, then ratios. */
export function printTable(rows: readonly Row[]): void {
  console.log(
    "CPU ms per assistant turn; Arrow = its share of Interlace's CPU; server = the mock's own CPU per turn\n",
  );
  const lines = [
    COLUMNS.map(([title]) => title),
    ...rows.map((row) => COLUMNS.map(([, read]) => read(row))),
  ];
  const widths = COLUMNS.map((_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)));
  for (const line of lines) {
    console.log(
      line
        .map((text, i) => (i === 0 ? text.padEnd(widths[i] ?? 0) : text.padStart(widths[i] ?? 0)))
        .join("  "),
    );
  }
}

export function printVerdicts(verdicts: readonly Verdict[]): void {
  console.log("");
  for (const { goal, row, seen, limit, met } of verdicts) {
    console.log(
      `${met ? "met   " : "MISSED"}  ${goal} ${seen.toFixed(3)}, goal ≤ ${limit}: ${row}`,
    );
  }
}

function show(value: number | null, digits: number): string {
  return value === null ? "–" : value.toFixed(digits);
}
