/** `interlace rollout`: its flags. What they do not say stands in a TOML file; the work is in `rollout/`. */
import { buildCommand } from "@stricli/core";
import type { CliContext } from "../cli-context.ts";
import type { RunFlags } from "../rollout/start-run.ts";
import { COLUMNS_FLAG, PRINT_CONFIG_FLAG, switchFlag, textFlag } from "./flag-shapes.ts";
import { COMMON_FLAGS, runCommand } from "./run-command.ts";

export type RolloutFlags = RunFlags & {
  readonly steps?: string;
  readonly problems?: string;
  readonly groupSize?: string;
  readonly data?: string;
  readonly columns?: readonly string[];
  readonly sampler?: string;
  readonly url?: string;
  readonly tokenizer?: string;
  readonly require?: string;
  readonly schedule?: string;
  readonly learner?: string;
  readonly seed?: string;
};

/** Flags that stand for one setting each. */
export const FLAG_SETTINGS = {
  steps: "run.steps",
  problems: "data.questions_per_batch",
  groupSize: "rollout.group_size",
  data: "data.path",
  sampler: "sampler.kind",
  url: "sampler.url",
  tokenizer: "sampler.tokenizer",
  require: "sandbox.require",
  schedule: "run.schedule",
  learner: "learner.handoff",
  seed: "rollout.seed",
  out: "run.out",
} as const satisfies Partial<Record<keyof RolloutFlags, string>>;

export const rolloutCommand = buildCommand<RolloutFlags, [], CliContext>({
  docs: {
    brief: "Roll out batches of problems and write what a learner trains on",
    fullDescription:
      "Without arguments: the policy in the box on built-in arithmetic, 16 problems × 8 samples.\n" +
      "Flags win over INTERLACE_… variables, these over --config, that over --preset.",
  },
  parameters: {
    flags: {
      steps: textFlag("Batches to roll out (default 1)", "N"),
      problems: textFlag("Problems of one batch (default 8; embedded 16)", "N"),
      groupSize: textFlag("Trajectories per problem (default 8)", "N"),
      data: textFlag("Problem file: .jsonl, .csv, .parquet, .arrow (default: built-in)", "FILE"),
      columns: COLUMNS_FLAG,
      sampler: textFlag(
        "embedded, vllm, sglang, tgi, llamacpp or tinker (default embedded)",
        "KIND",
      ),
      url: textFlag("Base URL of the server; several, with commas between, are replicas", "URL"),
      tokenizer: textFlag(
        "The model's tokenizer: a folder, or a hub name like org/name@revision",
        "DIR",
      ),
      require: textFlag("Least isolation of the sandbox: none, standard or strict", "LEVEL"),
      schedule: textFlag("continuous or rounds (default continuous)", "NAME"),
      learner: textFlag(
        "A trainer of your own takes each step before the next: files or socket",
        "HOW",
      ),
      seed: textFlag("Seeds everything that is drawn (default 42)", "N"),
      out: textFlag("Folder of the run folders (default runs)", "DIR"),
      preset: textFlag("embedded, retool-small or retool-paper", "NAME"),
      config: textFlag("Settings in TOML", "FILE"),
      resume: textFlag("Go on with an interrupted run: its id or folder", "RUN"),
      retryFailed: switchFlag("With --resume: ask again what failed"),
      printConfig: PRINT_CONFIG_FLAG,
      ...COMMON_FLAGS,
    },
  },
  func(flags) {
    return runCommand(this, flags, async () => {
      const { rolloutWork } = await import("../rollout/rollout-work.ts");
      return rolloutWork(this, flags);
    });
  },
});
