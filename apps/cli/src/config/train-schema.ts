/** What learns: the micro-batches and the hand-off, the learner in the box, where its metrics go. */
import { z } from "zod";

const positive = z.int().min(1);
const count = z.int().min(0);

export const learnerSchema = z.strictObject({
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
export const trainSchema = z.strictObject({
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
  threads: positive
    .nullable()
    .default(null)
    .describe(
      "of the learner, null = one per core for the policy in the box (the same bits for any number), one else",
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

export const trackerSchema = z.strictObject({
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
