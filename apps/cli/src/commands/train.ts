/** `interlace train`: its flags. What they do not say stands in a TOML file; the work is in `train/`. */
import { buildCommand } from "@stricli/core";
import type { CliContext } from "../cli-context.ts";
import type { RunFlags } from "../rollout/start-run.ts";
import { COLUMNS_FLAG, PRINT_CONFIG_FLAG, switchFlag, textFlag } from "./flag-shapes.ts";
import { COMMON_FLAGS, runCommand } from "./run-command.ts";

export type TrainFlags = RunFlags & {
  readonly steps?: string;
  readonly problems?: string;
  readonly groupSize?: string;
  readonly data?: string;
  readonly columns?: readonly string[];
  readonly heldOut?: string;
  readonly evaluateEvery?: string;
  readonly saveEvery?: string;
  readonly sampler?: string;
  readonly url?: string;
  readonly tokenizer?: string;
  readonly policy?: string;
  readonly learningRate?: string;
  readonly maxStaleness?: string;
  readonly tracker?: string;
  readonly trackerMode?: string;
  readonly python?: string;
  readonly require?: string;
  readonly seed?: string;
};

/** Flags that stand for one setting each. */
export const TRAIN_FLAG_SETTINGS = {
  steps: "train.max_steps",
  problems: "data.questions_per_batch",
  groupSize: "rollout.group_size",
  data: "data.path",
  heldOut: "train.held_out",
  evaluateEvery: "train.evaluate_every",
  saveEvery: "train.save_every",
  sampler: "sampler.kind",
  url: "sampler.url",
  tokenizer: "sampler.tokenizer",
  policy: "train.policy",
  learningRate: "train.learning_rate",
  maxStaleness: "train.max_staleness",
  tracker: "tracker.kind",
  trackerMode: "tracker.mode",
  python: "train.python",
  require: "sandbox.require",
  seed: "rollout.seed",
  out: "run.out",
} as const satisfies Partial<Record<keyof TrainFlags, string>>;

export const trainCommand = buildCommand<TrainFlags, [], CliContext>({
  docs: {
    brief: "Roll out, learn, roll out with the new weights, again",
    fullDescription:
      "Without arguments: the policy in the box on built-in arithmetic, 140 steps of 16 problems × 8; its reward\n" +
      "rises within minutes. Flags win over INTERLACE_… variables, these over --config, that over --preset.",
  },
  parameters: {
    flags: {
      steps: textFlag("Training steps (default 200; embedded 140)", "N"),
      problems: textFlag("Problems of one batch (default 8; embedded 16)", "N"),
      groupSize: textFlag("Trajectories per problem (default 8)", "N"),
      data: textFlag("Problem file: .jsonl, .csv, .parquet, .arrow (default: built-in)", "FILE"),
      columns: COLUMNS_FLAG,
      heldOut: textFlag("Problem file for evaluations, never trained on", "FILE"),
      evaluateEvery: textFlag("Steps between evaluations (default 0 = none; embedded 10)", "N"),
      saveEvery: textFlag("Steps between checkpoints (default 25)", "N"),
      sampler: textFlag("embedded, vllm or sglang (default embedded)", "KIND"),
      url: textFlag("Base URL of the server", "URL"),
      tokenizer: textFlag("The model's tokenizer: a folder, or a hub name", "DIR"),
      policy: textFlag("Folder of the policy to train (default: the one in the box)", "DIR"),
      learningRate: textFlag("Adam's rate (default 4e-5; embedded 1.2e-3)", "RATE"),
      maxStaleness: textFlag(
        "Updates that a trajectory may be behind (default 0 = on-policy)",
        "N",
      ),
      tracker: textFlag("jsonl, wandb, swanlab, mlflow or tensorboard (default jsonl)", "KIND"),
      trackerMode: textFlag("online, offline or disabled (default online)", "MODE"),
      python: textFlag("Interpreter with the learner's packages (default: one is set up)", "FILE"),
      require: textFlag("Least isolation of the sandbox: none, standard or strict", "LEVEL"),
      seed: textFlag("Seeds everything that is drawn (default 42)", "N"),
      out: textFlag("Folder of the run folders (default runs)", "DIR"),
      preset: textFlag("embedded, retool-small or retool-paper", "NAME"),
      config: textFlag("Settings in TOML", "FILE"),
      resume: textFlag("Go on with an interrupted run: its id or folder", "RUN"),
      retryFailed: switchFlag("With --resume: ask again what failed in the open step"),
      printConfig: PRINT_CONFIG_FLAG,
      ...COMMON_FLAGS,
    },
  },
  func(flags) {
    return runCommand(this, flags, async () => {
      const { trainWork } = await import("../train/train-work.ts");
      return trainWork(this, flags);
    });
  },
});
