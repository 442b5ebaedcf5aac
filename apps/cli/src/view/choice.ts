/** Which trajectories a person wants to see. In: flags and rows. Out: kinds, and whether a row is one of them. */
import type { TrajectoryRow } from "@interlace/train-bridge";

/** In the order in which the page offers them. */
export const KINDS = ["right", "wrong", "failed", "truncated"] as const;
export type Kind = (typeof KINDS)[number];

export const KIND_MEANINGS: Readonly<Record<Kind, string>> = {
  right: "the answer was judged equal",
  wrong: "the answer was judged different, or there was none",
  failed: "without a verdict: something broke, or the grader could not decide",
  truncated: "the last turn was cut at its token limit",
};

export type Choice = {
  /** null = all questions. */
  readonly question: number | null;
  /** null = all kinds. */
  readonly only: Kind | null;
};

export function kindsOf({ correct, failure, turns }: TrajectoryRow): readonly Kind[] {
  const kinds: Kind[] = [];
  if (failure !== null || correct === null) kinds.push("failed");
  else kinds.push(correct ? "right" : "wrong");
  if (turns.at(-1)?.finish === "length") kinds.push("truncated");
  return kinds;
}

export function isChosen(row: TrajectoryRow, { question, only }: Choice): boolean {
  if (question !== null && row.questionIndex !== question) return false;
  return only === null || kindsOf(row).includes(only);
}
