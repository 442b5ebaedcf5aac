/**
 * The last line of an evaluation's file. In: all problem lines and what they were asked with. Out: every figure, first
 * those that others read, in their order, then ours. All of it can be computed again from the lines above it.
 */
import { measureEval, powersUpTo, type Estimate } from "@interlace/core";
import { z } from "zod";
import type { EvalMode } from "../config/eval-schema.ts";
import type { AskedWith } from "./describe-differences.ts";
import type { ProblemLine } from "./problem-line.ts";

const count = z.int().min(0);
const share = z.number().min(0).max(1);

/** What others' files hold too. */
export const summaryLineSchema = z.looseObject({
  type: z.literal("summary"),
  dataset: z.string(),
  mode: z.string(),
  base_model: z.string(),
  model_path: z.string().nullable(),
  temperature: z.number(),
  top_p: z.number(),
  top_k: z.number().nullable(),
  val_n: z.int().min(1),
  problems: count,
  generations: count,
  average_at_n: share,
  pass_at_n: share,
  format_rate: share,
  mean_code_calls: z.number().min(0),
  mean_turns: z.number().min(0),
  correct_generations: count,
  passed_problems: count,
});

export type SummaryLine = z.output<typeof summaryLineSchema>;

export type EvalFacts = {
  readonly dataset: string;
  readonly mode: EvalMode;
  readonly model: string;
  readonly modelPath: string | null;
  readonly sampling: {
    readonly temperature: number;
    readonly topP: number;
    readonly topK: number | null;
    readonly seed: number;
  };
  readonly valN: number;
  /** snake_case names; what else must be the same for two results to be compared. */
  readonly settings: Readonly<Record<string, string | number>>;
  readonly checkpoint: string;
  readonly weightVersion: string | null;
  readonly configHash: string;
  /** What `configHash` is the hash of. */
  readonly askedWith: AskedWith;
};

/** `lines` in the data set's order. Figures are over scored generations; unscored ones are counted by reason. */
export function summaryLine(lines: readonly ProblemLine[], facts: EvalFacts): SummaryLine {
  const generations = lines.flatMap((line) => line.generations);
  const scored = generations.filter(({ correct }) => correct !== null);
  const metrics = measureEval(
    lines.map((line) =>
      line.generations.map(({ correct, boxed_answer: answer }) => ({
        correct,
        answer: correct === null ? null : answer,
      })),
    ),
    powersUpTo(facts.valN),
  );
  const { sampling } = facts;
  return {
    type: "summary",
    dataset: facts.dataset,
    mode: facts.mode,
    base_model: facts.model,
    model_path: facts.modelPath,
    temperature: sampling.temperature,
    top_p: sampling.topP,
    top_k: sampling.topK,
    val_n: facts.valN,
    problems: lines.length,
    generations: generations.length,
    average_at_n: metrics.averageAtN.value,
    pass_at_n: metrics.passAtN.value,
    format_rate: metrics.formatRate.value,
    mean_code_calls: mean(scored.map((each) => each.code_calls)),
    mean_turns: mean(scored.map((each) => each.turns)),
    correct_generations: scored.filter(({ correct }) => correct).length,
    passed_problems: lines.filter((line) => line.pass_at_n === true).length,
    average_at_n_se: metrics.averageAtN.standardError,
    pass_at_n_se: metrics.passAtN.standardError,
    format_rate_se: metrics.formatRate.standardError,
    majority_at_n: metrics.majorityAtN.value,
    majority_at_n_se: metrics.majorityAtN.standardError,
    pass_at_k: byK(metrics.passAtK, ({ value }) => value),
    pass_at_k_se: byK(metrics.passAtK, ({ standardError }) => standardError),
    pass_hat_k: byK(metrics.passHatK, ({ value }) => value),
    pass_hat_k_se: byK(metrics.passHatK, ({ standardError }) => standardError),
    /** Problems with at least k scored generations. */
    problems_at_k: byK(metrics.passAtK, ({ problems }) => problems),
    scored_problems: metrics.averageAtN.problems,
    scored_generations: scored.length,
    unscored_generations: metrics.unscored,
    unscored: countBy(generations.flatMap(({ unscored }) => unscored ?? [])),
    terminations: countBy(generations.map(({ termination }) => termination)),
    checkpoint: facts.checkpoint,
    weight_version: facts.weightVersion,
    seed: sampling.seed,
    ...facts.settings,
    config_hash: facts.configHash,
    asked_with: facts.askedWith,
  };
}

function byK<T>(
  estimates: ReadonlyMap<number, Estimate>,
  read: (estimate: Estimate) => T,
): Readonly<Record<string, T>> {
  return Object.fromEntries([...estimates].map(([k, estimate]) => [String(k), read(estimate)]));
}

/** By name, so that the order in which problems ended leaves no trace. */
function countBy(names: readonly string[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
