/**
 * A step counted, group by group, before anything of it is shown. In: its rows, what is chosen, how much a page may hold.
 * Out: a few numbers per group, and how many of its trajectories the page will show.
 */
import type { TrajectoryRow } from "@interlace/train-bridge";
import { formatCount } from "../terminal/format.ts";
import { isChosen, KINDS, kindsOf, type Choice, type Kind } from "./choice.ts";

/** Of a whole page. The first trajectory is shown however long it is. */
export type Limit = { readonly trajectories: number; readonly tokens: number };

export type MemberTally = {
  readonly index: number;
  /** null = unscored. */
  readonly reward: number | null;
  readonly kinds: readonly Kind[];
  readonly isShown: boolean;
};

export type GroupTally = {
  readonly question: number;
  readonly problemId: string;
  /** In the order of the group. */
  readonly members: readonly MemberTally[];
  readonly chosen: number;
  /** The first so many of the chosen ones. */
  readonly shown: number;
};

export type StepTally = {
  readonly groups: readonly GroupTally[];
  readonly trajectories: number;
  readonly kinds: Readonly<Record<Kind, number>>;
  readonly chosen: number;
  readonly shown: number;
};

/** Rows of one question follow each other; one group at a time is held. */
export function* groupRows(rows: Iterable<TrajectoryRow>): Generator<readonly TrajectoryRow[]> {
  let group: TrajectoryRow[] = [];
  for (const row of rows) {
    if (group.length > 0 && group[0]?.questionIndex !== row.questionIndex) {
      yield group;
      group = [];
    }
    group.push(row);
  }
  if (group.length > 0) yield group;
}

export function tallyStep(rows: Iterable<TrajectoryRow>, choice: Choice, limit: Limit): StepTally {
  const takes = createMeter(limit);
  const groups = Array.from(groupRows(rows), (group): GroupTally => {
    const chosen = group.filter((row) => isChosen(row, choice));
    const shown = new Set(chosen.filter(takes));
    return {
      question: group[0]?.questionIndex ?? 0,
      problemId: group[0]?.problemId ?? "",
      members: group.map((row) => ({
        index: row.groupIndex,
        reward: row.reward,
        kinds: kindsOf(row),
        isShown: shown.has(row),
      })),
      chosen: chosen.length,
      shown: shown.size,
    };
  });
  const members = groups.flatMap((group) => group.members);
  const count = (kind: Kind): number => members.filter(({ kinds }) => kinds.includes(kind)).length;
  return {
    groups,
    trajectories: members.length,
    kinds: Object.fromEntries(KINDS.map((kind) => [kind, count(kind)])) as Record<Kind, number>,
    chosen: sum(groups, ({ chosen }) => chosen),
    shown: sum(groups, ({ shown }) => shown),
  };
}

/** True until the page is full: what is shown is a beginning, not a selection of short ones. */
function createMeter(limit: Limit): (row: TrajectoryRow) => boolean {
  let trajectories = 0;
  let tokens = 0;
  let isFull = false;
  return (row) => {
    trajectories += 1;
    tokens += row.tokens.length;
    isFull ||= trajectories > limit.trajectories || (tokens > limit.tokens && trajectories > 1);
    return !isFull;
  };
}

/** What the page does not hold, and how to see it; null = it holds all that was chosen. */
export function leftOut({ chosen, shown }: Pick<StepTally, "chosen" | "shown">): string | null {
  if (chosen === shown) return null;
  const left = chosen - shown;
  return `${formatCount(left)} more ${left === 1 ? "is" : "are"} not shown; --limit ${chosen} shows all, --question N those of one problem`;
}

/** Over scored members; null = there are too few. The deviation is the sample's, as estimators take it. */
export function rewardStats(rewards: readonly (number | null)[]): {
  readonly scored: number;
  readonly mean: number | null;
  readonly std: number | null;
} {
  const scored = rewards.filter((reward) => reward !== null);
  const count = scored.length;
  if (count === 0) return { scored: 0, mean: null, std: null };
  const mean = sum(scored, (reward) => reward) / count;
  const squares = sum(scored, (reward) => (reward - mean) ** 2);
  return { scored: count, mean, std: count < 2 ? null : Math.sqrt(squares / (count - 1)) };
}

function sum<T>(items: readonly T[], value: (item: T) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}
