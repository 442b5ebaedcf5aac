/**
 * In: a grade. Out: the reward and what the record keeps of it (protocol-and-reward.md §4).
 * Refuses to know: how the grade came about, and what the group's other members earned.
 */
import type { Grade } from "../ports/grader.ts";

/** What a scored trajectory earned. An unscored one has no score: it is null, never −1. */
export type Score = {
  /** +1 when correct, else −1, before any shaping. */
  readonly reward: number;
  /** A balanced `\boxed{…}` was found where the answer must stand. */
  readonly validFormat: boolean;
  readonly correct: boolean;
  /** Text of that box, untrimmed; null iff the format is invalid. */
  readonly answer: string | null;
};

/** null = unscored: the trajectory takes no part in its group's mean. */
export function scoreGrade(grade: Grade): Score | null {
  if (grade.kind === "unscored") return null;
  const correct = grade.kind === "equal";
  return {
    reward: correct ? 1 : -1,
    validFormat: grade.answer !== null,
    correct,
    answer: grade.answer,
  };
}
