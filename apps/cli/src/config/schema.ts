/**
 * Every setting of the commands, in sections: limits, defaults and help texts in one place.
 * A section belongs to the component that reads it; this file composes them.
 */
import {
  ESTIMATOR_NAMES,
  failurePolicySchema,
  rolloutConfigSchema,
  SHAPINGS,
  SHUFFLES,
} from "@interlace/core";
import { SAMPLER_KINDS, samplerOptionsSchema, serverUrlSchema } from "@interlace/sampler-clients";
import { z } from "zod";
import { evalSchema } from "./eval-schema.ts";
import { toSnake } from "./names.ts";

const positive = z.int().min(1);
const count = z.int().min(0);

export const GRADERS = [
  "auto",
  "math_verify",
  "native",
  "aime_integer",
  "exact",
  "choice",
  "numeric",
  "code_tests",
  "judge",
] as const;

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

const column = z.string().min(1).nullable().default(null);

/** Column paths as core reads them: `problem`, `reward_model.ground_truth`, `prompt[0].content`. */
const columnsSchema = z.strictObject({
  question: column.describe("column of the question, null = told from the first record"),
  answer: column.describe("column of the answer, null = told from the first record"),
  id: column.describe("column of the id, null = the record's number"),
  dataSource: column.describe("column of the data set's name, null = the file's"),
  answerForm: z
    .enum(["plain", "hashes", "boxed"])
    .default("plain")
    .describe("what of the answer's column counts: all, what follows ####, the last box"),
});

const dataSchema = z.strictObject({
  path: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe("problem file: .jsonl, .csv, .parquet, .arrow; null = the built-in arithmetic"),
  mixture: z
    .array(
      z.strictObject({
        path: z.string().min(1).describe("problem file"),
        weight: z.number().gt(0).default(1).describe("its share, against the other parts'"),
      }),
    )
    .default([])
    .describe("several problem files in fixed shares, in the place of data.path"),
  columns: columnsSchema.prefault({}),
  minQuestionCharacters: z.int().min(0).default(0).describe("shorter questions are left out"),
  maxQuestionCharacters: positive
    .nullable()
    .default(null)
    .describe("longer questions are left out, null = none"),
  maxAnswerCharacters: positive
    .nullable()
    .default(null)
    .describe("problems with longer answers are left out, null = none"),
  questionsPerBatch: positive.default(8).describe("problems of one batch"),
  maxSamples: z.int().min(0).default(0).describe("problems of the file to use, 0 = all"),
  shuffle: z
    .enum(["none", ...SHUFFLES])
    .default("none")
    .describe("order of the problems; python = that of random.Random(seed).shuffle"),
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

const server = samplerOptionsSchema.unwrap().omit({ kind: true, urls: true }).shape;

/**
 * Refuses what is no name of a variable as an issue of the whole section: a setting's own issues are printed with the
 * value, and here it may be a key.
 */
function namesVariable<Name extends string>(name: Name) {
  return (section: Readonly<Record<Name, string | null>>, context: z.RefinementCtx): void => {
    const [issue] = server.apiKeyEnv.safeParse(section[name]).error?.issues ?? [];
    if (issue === undefined) return;
    context.addIssue({ code: "custom", message: `${toSnake(name)}: ${issue.message}`, input: "…" });
  };
}

const samplerSchema = z
  .strictObject({
    kind: z
      .enum(["embedded", ...SAMPLER_KINDS])
      .default("embedded")
      .describe("what samples"),
    url: z
      .union([serverUrlSchema, z.array(serverUrlSchema).min(1)])
      .nullable()
      .default(null)
      .describe("base URL of the server; several are replicas of one model"),
    tokenizer: z
      .string()
      .min(1)
      .nullable()
      .default(null)
      .describe(
        "the model's tokenizer and chat template: a folder, or a hub name like org/name@revision",
      ),
    ...server,
    apiKeyEnv: z
      .string()
      .nullable()
      .default(null)
      .describe(server.apiKeyEnv.description ?? ""),
  })
  .superRefine(namesVariable("apiKeyEnv"));

const sandboxSchema = z
  .strictObject({
    backend: z
      .enum(["auto", "zygote", "bubblewrap", "process", "remote"])
      .default("auto")
      .describe("how the model's Python runs; auto = the best that this machine gives"),
    url: z
      .union([serverUrlSchema, z.array(serverUrlSchema).min(1)])
      .nullable()
      .default(null)
      .describe("remote: base URL of a SandboxFusion-compatible service; several are replicas"),
    tokenEnv: z
      .string()
      .min(1)
      .nullable()
      .default(null)
      .describe("remote: environment variable that holds the service's token"),
    preload: z
      .array(z.string().min(1))
      .default([])
      .describe("modules that the warm pool imports ahead of every run, besides the usual ones"),
    python: z
      .string()
      .min(1)
      .nullable()
      .default(null)
      .describe("interpreter that runs the model's code, null = python3 of the PATH"),
    timeoutSeconds: z.number().gt(0).max(86_400).default(30).describe("wall clock of one run"),
    workers: positive.nullable().default(null).describe("runs at once, null = one per core"),
    autoPrint: z
      .boolean()
      .default(false)
      .describe("print the value of a last statement that is an expression"),
    require: z
      .enum(["none", "standard", "strict"])
      .default("standard")
      .describe("isolation below which nothing starts"),
  })
  .superRefine(namesVariable("tokenEnv"));

const modelJudgeSchema = z
  .strictObject({
    url: serverUrlSchema
      .nullable()
      .default(null)
      .describe("base URL of the OpenAI-compatible server that judges"),
    model: z.string().min(1).nullable().default(null).describe("model that judges"),
    apiKeyEnv: z
      .string()
      .min(1)
      .nullable()
      .default(null)
      .describe("environment variable that holds its key"),
    timeoutSeconds: z.number().gt(0).default(60).describe("time for one answer of the judge"),
    concurrency: positive.default(8).describe("pairs that it is asked at once"),
  })
  .superRefine(namesVariable("apiKeyEnv"));

const tolerance = z.number().min(0);

const gradingSchema = z.strictObject({
  grader: z
    .enum(GRADERS)
    .default("auto")
    .describe("auto = exact forms natively, all else by Math-Verify; the built-in data natively"),
  timeoutSeconds: z
    .number()
    .gt(0)
    .default(10)
    .describe("time for one verdict, or one test of code"),
  workers: positive.nullable().default(null).describe("Math-Verify processes, null = by cores"),
  absoluteTolerance: tolerance.default(1e-6).describe("of numeric: distance that is still equal"),
  relativeTolerance: tolerance
    .default(0)
    .describe("of numeric: distance that is still equal, as a share of the reference"),
  testsTotalSeconds: z
    .number()
    .gt(0)
    .default(60)
    .describe("of code_tests: time for all tests of one program"),
  judge: modelJudgeSchema.prefault({}),
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

const learnerSchema = z.strictObject({
  maxContextTokens: positive
    .nullable()
    .default(null)
    .describe("tokens of the longest datum that the learner takes, null = max_trajectory_tokens"),
  maxItems: positive.default(32).describe("datums of one micro-batch"),
  maxPaddedTokens: positive.default(64_000).describe("tokens of one micro-batch, padding included"),
  handoff: z
    .enum(["none", "files", "socket"])
    .default("none")
    .describe("how a trainer of your own takes the steps of rollout; it acknowledges each"),
  socket: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe(
      "of handoff = socket: path of the Unix socket, null = learner.sock in the run folder",
    ),
  maxAhead: count
    .default(0)
    .describe("steps rolled out before the ones ahead of them are trained on, 0 = on-policy"),
});

/** The optimizer step is the Python learner's; its options are handed on under their own names. */
const trainSchema = z.strictObject({
  maxSteps: positive.default(200).describe("training steps"),
  policy: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe("folder of the policy to train, null = the one in the box"),
  python: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe("interpreter with the learner's packages, null = an environment is made for it"),
  runName: z.string().min(1).nullable().default(null).describe("begins the checkpoints' names"),
  saveEvery: count.default(25).describe("steps between checkpoints, 0 = only the final one"),
  maxStaleness: count
    .default(0)
    .describe("updates that a trajectory may be behind, 0 = on-policy; more overlaps both halves"),
  learningRate: z.number().gt(0).default(4e-5).describe("Adam's rate"),
  beta1: z.number().min(0).lt(1).default(0.9).describe("Adam's first decay"),
  beta2: z.number().min(0).lt(1).default(0.95).describe("Adam's second decay"),
  ratioLow: z.number().min(0).max(1).default(0.8).describe("least ratio that still counts"),
  ratioHigh: z.number().min(1).default(1.28).describe("largest ratio that still counts"),
  dualClip: z.number().gt(1).nullable().default(null).describe("10 is usual, null = off"),
  reduction: z
    .enum(["sample_mean", "token_sum", "token_mean"])
    .default("sample_mean")
    .describe("how a sample's tokens make its loss"),
  gradientClip: z.number().gt(0).nullable().default(null).describe("largest norm, null = off"),
  warmupSteps: count.default(0).describe("steps in which the rate rises from 0"),
  decayFrom: count.nullable().default(null).describe("step at which the rate begins to fall"),
  decayTo: positive.nullable().default(null).describe("step at which it has fallen"),
  decayFloor: z.number().min(0).max(1).default(0.1).describe("share of the rate that is left"),
  loraRank: count
    .default(32)
    .describe("rank of the low-rank adapter that alone is trained, 0 = all weights are"),
  loraAlpha: positive.default(32).describe("the adapter's product is scaled by this / lora_rank"),
  loraTargets: z
    .array(z.string().min(1))
    .min(1)
    .default(["all-linear"])
    .describe(
      "layers with an adapter, like q_proj; all-linear = every linear one but the output's",
    ),
  evaluateEvery: count
    .default(0)
    .describe("steps between evaluations on held-out problems, 0 = none"),
  heldOut: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe("problem file for evaluations, null = the built-in held-out problems"),
});

const trackerSchema = z.strictObject({
  kind: z
    .enum(["jsonl", "wandb", "swanlab", "mlflow", "tensorboard"])
    .default("jsonl")
    .describe("where metrics of a training go besides metrics.jsonl; jsonl = nowhere"),
  project: z.string().min(1).default("interlace").describe("the tracker's project or experiment"),
  mode: z
    .enum(["online", "offline", "disabled"])
    .default("online")
    .describe("offline = files in the run folder"),
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
