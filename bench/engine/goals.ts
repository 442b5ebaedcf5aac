/** What must hold (performance, "What we must reach"), as ratios of one run. In: rows. Out: which goals are missed. */
import type { Verified } from "./verify-run.ts";
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
  /** What `interlace verify` said of Interlace's run in the first round; null = it was not asked. */
  readonly verified: Verified | null;
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
  return [...rows.flatMap(judgeRow), ...judgeGrowth(rows)];
}

/** Growth is judged up to as many. */
const MANY = 10_000;

/** From the fewest live trajectories to the most, of rows that differ in nothing else. */
function judgeGrowth(rows: readonly Row[]): readonly Verdict[] {
  const same = rows
    .filter(({ cell }) => cell.latency === null)
    .toSorted((a, b) => a.cell.live - b.cell.live);
  const shapes = Map.groupBy(
    same,
    ({ cell: { wire, shape, observation } }) => `${wire} ${shape} ${observation}`,
  );
  return [...shapes.values()].flatMap((group) => {
    const [fewest, most] = [group[0], group.at(-1)];
    if (fewest === undefined || most === undefined || most.cell.live < MANY) return [];
    const goal = `CPU ÷ that of ${fewest.cell.live} live`;
    const seen = most.interlace / fewest.interlace;
    return [{ goal, row: most.name, seen, limit: 1.2, met: seen <= 1.2 }];
  });
}

function judgeRow(row: Row): readonly Verdict[] {
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
}
