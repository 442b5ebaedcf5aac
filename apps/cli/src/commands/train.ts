/** `interlace train`: its flags. What they do not say stands in a TOML file; the work is in `train/`. */
import { buildCommand } from "@stricli/core";
import type { CliContext } from "../cli-context.ts";
import { COMMON_FLAGS, runCommand, type CommonFlags } from "./run-command.ts";

export type TrainFlags = CommonFlags & {
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
  readonly out?: string;
  readonly preset?: string;
  readonly config?: string;
  readonly resume?: string;
  readonly retryFailed?: boolean;
  readonly printConfig?: boolean;
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

function text(brief: string, placeholder: string) {
  return { kind: "parsed", parse: String, optional: true, brief, placeholder } as const;
}

export const trainCommand = buildCommand<TrainFlags, [], CliContext>({
  docs: {
    brief: "Roll out, learn, roll out with the new weights, again",
    fullDescription:
      "Without arguments: the policy in the box on built-in arithmetic, 120 steps of 16 problems × 8; its reward\n" +
      "rises within minutes. Flags win over INTERLACE_… variables, these over --config, that over --preset.",
  },
  parameters: {
    flags: {
      steps: text("Training steps (default 200; embedded 120)", "N"),
      problems: text("Problems of one batch (default 8; embedded 16)", "N"),
      groupSize: text("Trajectories per problem (default 8)", "N"),
      data: text("Problem file: .jsonl, .csv, .parquet, .arrow (default: built-in)", "FILE"),
      columns: {
        kind: "parsed",
        parse: String,
        optional: true,
        variadic: ",",
        brief: "Columns of the file, as question=problem,answer=solution",
        placeholder: "FIELD=COLUMN",
      },
      heldOut: text("Problem file for evaluations, never trained on", "FILE"),
      evaluateEvery: text("Steps between evaluations (default 0 = none; embedded 10)", "N"),
      saveEvery: text("Steps between checkpoints (default 25)", "N"),
      sampler: text("embedded, vllm or sglang (default embedded)", "KIND"),
      url: text("Base URL of the server", "URL"),
      tokenizer: text("The model's tokenizer: a folder, or a hub name", "DIR"),
      policy: text("Folder of the policy to train (default: the one in the box)", "DIR"),
      learningRate: text("Adam's rate (default 4e-5; embedded 1.2e-3)", "RATE"),
      maxStaleness: text("Updates that a trajectory may be behind (default 0 = on-policy)", "N"),
      tracker: text("jsonl, wandb, swanlab, mlflow or tensorboard (default jsonl)", "KIND"),
      trackerMode: text("online, offline or disabled (default online)", "MODE"),
      python: text("Interpreter with the learner's packages (default: one is set up)", "FILE"),
      require: text("Least isolation of the sandbox: none, standard or strict", "LEVEL"),
      seed: text("Seeds everything that is drawn (default 42)", "N"),
      out: text("Folder of the run folders (default runs)", "DIR"),
      preset: text("embedded, retool-small or retool-paper", "NAME"),
      config: text("Settings in TOML", "FILE"),
      resume: text("Go on with an interrupted run: its id or folder", "RUN"),
      retryFailed: {
        kind: "boolean",
        optional: true,
        withNegated: false,
        brief: "With --resume: ask again what failed in the open step",
      },
      printConfig: {
        kind: "boolean",
        optional: true,
        withNegated: false,
        brief: "Print every setting and where it came from, and stop",
      },
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
