/** What must hold (performance, "What we must reach"), as ratios of one run. In: rows. Out: which goals are missed. */
import type { Cell } from "./workload.ts";

/** Medians of the rounds; null = that driver did not run. */
export type Row = {
  readonly name: string;
  readonly cell: Cell;
  /** CPU milliseconds per assistant turn. */
  readonly interlace: number;
  readonly bare: number | null;
  readonly python: number | null;
  readonly server: number;
  readonly arrowShare: number;
  readonly toBare: number | null;
  readonly toPython: number | null;
  /** Wall ÷ critical path; null = the server answers at once. */
  readonly toCritical: number | null;
  readonly bareToCritical: number | null;
  readonly pythonToCritical: number | null;
  /** Growth of the process per live token. */
  readonly bytesPerToken: number;
  readonly bareBytesPerToken: number | null;
  readonly pythonBytesPerToken: number | null;
  readonly load: number;
};

export type Verdict = {
  readonly goal: string;
  readonly row: string;
  readonly seen: number;
  readonly limit: number;
  readonly met: boolean;
};

export function judge(rows: readonly Row[]): readonly Verdict[] {
  return rows.flatMap((row) => {
    const { cell } = row;
    const verdicts: Verdict[] = [];
    const hold = (goal: string, seen: number | null, limit: number): void => {
      if (seen !== null) verdicts.push({ goal, row: row.name, seen, limit, met: seen <= limit });
    };
    const isTail = cell.latency !== null;
    // A tail is measured by its waiting; its CPU is compared with Python's, where batching is equally lost.
    if (!isTail) hold("CPU ÷ bare Bun", row.toBare, cell.observation === 1 ? 1.5 : 2.5);
    hold("CPU ÷ least Python", row.toPython, isTail ? 0.6 : 0.5);
    if (cell.schedule === "continuous") {
      hold("wall ÷ critical path", row.toCritical, cell.live > 512 ? 1.05 : 1.02);
      if (isTail) hold("bytes per live token", row.bytesPerToken, 40);
    }
    return verdicts;
  });
}
