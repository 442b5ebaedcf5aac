/**
 * Which problems a step meets. In: the problems in order, the lines of the steps before, what those left under way.
 * Out: a problem by its question_index. A step of dynamic sampling takes as many as it needs; the next one goes on behind
 * them, after the groups that were carried into it.
 */
import { batchAt, type MathExample } from "@interlace/core";
import type { Config } from "../config/schema.ts";
import type { MetricsLine } from "../run-folder/metrics-file.ts";

/** Name of the metric that says how many problems of the data a step has taken. */
export const PROBLEMS_MET = "rollout/problems";

export type StepProblems = {
  /** Of a step without dynamic sampling; else those that it begins with. */
  readonly first: readonly MathExample[];
  /** Problem by question_index, beyond the end of the data too. */
  readonly at: (question: number) => MathExample;
  /** Its place in the data, counted on past the end. */
  readonly positionOf: (question: number) => number;
};

/** `before`: metrics of the steps before this one. `carried`: positions of the groups that were under way. */
export function stepProblems(
  problems: readonly MathExample[],
  { data, dynamicSampling }: Config,
  before: readonly MetricsLine[],
  step: number,
  carried: readonly number[],
): StepProblems {
  const size = data.questionsPerBatch;
  const start = dynamicSampling.enabled
    ? before
        .filter((line) => line.step < step)
        .reduce((sum, line) => sum + (line[PROBLEMS_MET] ?? size), 0)
    : step * size;
  const positionOf = (question: number): number =>
    carried[question] ?? start + question - carried.length;
  const at = (question: number): MathExample => batchAt(problems, positionOf(question), 1)[0]!;
  const first = Array.from({ length: size }, (_, question) => at(question));
  return { first, at, positionOf };
}
