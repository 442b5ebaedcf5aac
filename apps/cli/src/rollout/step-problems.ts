/**
 * Which problems a step meets. In: the problems in order, the lines of the steps before. Out: where the step begins and
 * what it takes. A step of dynamic sampling takes as many as it needs; the next one goes on behind them.
 */
import { batchAt, type MathExample } from "@interlace/core";
import type { Config } from "../config/schema.ts";
import type { MetricsLine } from "../run-folder/metrics-file.ts";

/** Name of the metric that says how many problems a step has met. */
export const PROBLEMS_MET = "rollout/problems";

export type StepProblems = {
  /** Of a step without dynamic sampling; else those that it begins with. */
  readonly first: readonly MathExample[];
  /** Problem by question_index, beyond the end of the data too. */
  readonly at: (question: number) => MathExample;
};

/** `before`: metrics of the steps before this one. */
export function stepProblems(
  problems: readonly MathExample[],
  { data, dynamicSampling }: Config,
  before: readonly MetricsLine[],
  step: number,
): StepProblems {
  const size = data.questionsPerBatch;
  const start = dynamicSampling.enabled
    ? before
        .filter((line) => line.step < step)
        .reduce((sum, line) => sum + (line[PROBLEMS_MET] ?? size), 0)
    : step * size;
  const at = (question: number): MathExample => batchAt(problems, start + question, 1)[0]!;
  return { first: Array.from({ length: size }, (_, question) => at(question)), at };
}
