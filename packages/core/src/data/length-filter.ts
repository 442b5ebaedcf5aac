/** In: problems and bounds. Out: those within them, and how many were not. Lengths are code points. */
import type { MathExample } from "./math-example.ts";

export type LengthBounds = {
  readonly minQuestion: number;
  /** null = no bound. */
  readonly maxQuestion: number | null;
  readonly maxAnswer: number | null;
};

export type FilteredProblems = {
  readonly problems: readonly MathExample[];
  readonly tooShort: number;
  readonly tooLong: number;
  /** The answer is too long; counted when the question is not. */
  readonly answerTooLong: number;
};

export function filterByLength(
  problems: readonly MathExample[],
  { minQuestion, maxQuestion, maxAnswer }: LengthBounds,
): FilteredProblems {
  const kept: MathExample[] = [];
  let [tooShort, tooLong, answerTooLong] = [0, 0, 0];
  for (const problem of problems) {
    const question = countCodePoints(problem.question);
    if (question < minQuestion) tooShort += 1;
    else if (maxQuestion !== null && question > maxQuestion) tooLong += 1;
    else if (maxAnswer !== null && countCodePoints(problem.answer) > maxAnswer) answerTooLong += 1;
    else kept.push(problem);
  }
  return { problems: kept, tooShort, tooLong, answerTooLong };
}

function countCodePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
