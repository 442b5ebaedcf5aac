/**
 * Every setting of the commands, in sections: limits, defaults and help texts in one place.
 * A section belongs to the component that reads it; this file composes them, and holds those of the rollout itself.
 */
import {
  ESTIMATOR_NAMES,
  failurePolicySchema,
  rolloutConfigSchema,
  SHAPINGS,
} from "@interlace/core";
import { z } from "zod";
import { dataSchema } from "./data-schema.ts";
import { evalSchema } from "./eval-schema.ts";
import { gradingSchema } from "./grading-schema.ts";
import { samplerSchema } from "./sampler-schema.ts";
import { sandboxSchema } from "./sandbox-schema.ts";
import { learnerSchema, trackerSchema, trainSchema } from "./train-schema.ts";

const positive = z.int().min(1);

const runSchema = z.strictObject({
  steps: positive.default(1).describe("batches to roll out"),
  out: z.string().min(1).default("runs").describe("folder that holds the run folders"),
  schedule: z
    .enum(["continuous", "rounds"])
    .default("continuous")
    .describe("when pending requests and tool calls start"),
  maxOpenGroups: positive
    .nullable()
    .default(null)
    .describe("problems under way at once, null = all of the batch; bounds memory and caches"),
  ...failurePolicySchema.shape,
});

const protocolSchema = z.strictObject({
  dialect: z.enum(["qwen3_coder"]).default("qwen3_coder").describe("how the model writes a call"),
  systemPrompt: z.string().nullable().default(null).describe("null = the built-in one"),
  systemPromptFile: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe("file that holds the system prompt"),
  toolDescriptionFile: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe("file that holds the tool's description, null = the built-in one"),
  templateArguments: z
    .record(z.string(), z.json())
    .default({ enable_thinking: false })
    .describe("handed to the chat template"),
});

const rewardSchema = z.strictObject({
  shaping: z
    .enum(SHAPINGS)
    .default("off")
    .describe("the ReTool recipes' reward for wrong answers, by cap and by what they count"),
  overlongMaxTokens: positive
    .nullable()
    .default(null)
    .describe("sampled tokens at which DAPO's soft punishment is −1, null = off"),
  overlongBufferTokens: positive
    .default(512)
    .describe("tokens before overlong_max_tokens in which the punishment grows"),
});

const advantageSchema = z.strictObject({
  estimator: z
    .enum(ESTIMATOR_NAMES)
    .default("group_centred")
    .describe("how a group's rewards become advantages"),
  k: positive.default(4).describe("k of pass_at_k"),
});

const dynamicSamplingSchema = z.strictObject({
  enabled: z
    .boolean()
    .default(false)
    .describe("set groups without a signal aside and roll out further problems in their place"),
  maxProblems: positive
    .nullable()
    .default(null)
    .describe("problems rolled out at most for one batch, null = 3 × data.questions_per_batch"),
  oversample: z
    .int()
    .min(0)
    .default(0)
    .describe(
      "groups under way beyond those still needed; unfinished ones go on in the next batch",
    ),
});

export const configSchema = z.strictObject({
  run: runSchema,
  data: dataSchema,
  rollout: rolloutConfigSchema,
  protocol: protocolSchema,
  sampler: samplerSchema,
  sandbox: sandboxSchema,
  grading: gradingSchema,
  reward: rewardSchema,
  advantage: advantageSchema,
  dynamicSampling: dynamicSamplingSchema,
  learner: learnerSchema,
  eval: evalSchema,
  train: trainSchema,
  tracker: trackerSchema,
});

export type Config = z.output<typeof configSchema>;
