/** What an evaluation is asked with; budgets, prompts, sandbox and grader stand in their own sections. */
import { z } from "zod";
import { DATASET_NAMES } from "../eval/datasets.ts";

export const EVAL_MODES = ["retool", "text-only"] as const;
export type EvalMode = (typeof EVAL_MODES)[number];

const positive = z.int().min(1);

export const evalSchema = z.strictObject({
  mode: z
    .enum(EVAL_MODES)
    .default("retool")
    .describe("retool = the rollout with its budgets; text-only = one turn, no system, no tools"),
  dataset: z
    .enum(DATASET_NAMES)
    .nullable()
    .default(null)
    .describe("data set by name, looked for in the folder that data.path names"),
  valN: positive.default(12).describe("generations per problem"),
  temperature: z.number().min(0).default(1).describe("sampling temperature of an evaluation"),
  topP: z.number().gt(0).max(1).default(0.7).describe("nucleus sampling of an evaluation"),
  topK: positive.nullable().default(null).describe("top-k of an evaluation, null = off"),
  seed: z
    .int()
    .min(0)
    .lt(2 ** 31)
    .default(42)
    .describe("seeds the draws of an evaluation, by problem"),
  limit: z.int().min(0).default(0).describe("problems to evaluate, 0 = all"),
  concurrency: positive.default(16).describe("problems in work at once"),
  out: z.string().min(1).default("evals").describe("folder of the results, or one .jsonl file"),
});
