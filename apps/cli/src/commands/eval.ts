/** `interlace eval`: its flags. What they do not say stands in a TOML file; the work is in `eval/`. */
import { buildCommand } from "@stricli/core";
import type { CliContext } from "../cli-context.ts";
import { COLUMNS_FLAG, PRINT_CONFIG_FLAG, switchFlag, textFlag } from "./flag-shapes.ts";
import { COMMON_FLAGS, runCommand, type CommonFlags } from "./run-command.ts";

export type EvalFlags = CommonFlags & {
  readonly mode?: string;
  readonly dataset?: string;
  readonly data?: string;
  readonly columns?: readonly string[];
  readonly sampler?: string;
  readonly url?: string;
  readonly tokenizer?: string;
  readonly model?: string;
  readonly checkpoint?: readonly string[];
  readonly require?: string;
  readonly valN?: string;
  readonly limit?: string;
  readonly concurrency?: string;
  readonly seed?: string;
  readonly out?: string;
  readonly preset?: string;
  readonly config?: string;
  readonly retryFailed?: boolean;
  readonly printConfig?: boolean;
};

/** Flags that stand for one setting each. */
export const EVAL_FLAG_SETTINGS = {
  mode: "eval.mode",
  dataset: "eval.dataset",
  data: "data.path",
  sampler: "sampler.kind",
  url: "sampler.url",
  tokenizer: "sampler.tokenizer",
  model: "sampler.model",
  require: "sandbox.require",
  valN: "eval.val_n",
  limit: "eval.limit",
  concurrency: "eval.concurrency",
  seed: "eval.seed",
  out: "eval.out",
} as const satisfies Partial<Record<keyof EvalFlags, string>>;

export const evalCommand = buildCommand<EvalFlags, [], CliContext>({
  docs: {
    brief: "Ask every problem several times and say how often the answers are right",
    fullDescription:
      "average@n, pass@k, pass^k and majority@n with standard errors, a JSONL line per problem as it ends.\n" +
      "Without arguments: the policy in the box on its held-out arithmetic. The same command goes on\n" +
      "where it was interrupted.",
  },
  parameters: {
    flags: {
      mode: textFlag("retool, or text-only: one turn without tools (default retool)", "MODE"),
      dataset: textFlag("aime24, aime25, math500 or gsm8k, from the folder data or --data", "NAME"),
      data: textFlag(
        "Problem file (.jsonl, .csv, .parquet, .arrow), or folder of data sets",
        "PATH",
      ),
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
      model: textFlag("Model that the server is asked for (default: the first it serves)", "NAME"),
      checkpoint: {
        kind: "parsed",
        parse: String,
        optional: true,
        variadic: true,
        brief:
          "What to evaluate, once for each: safetensors of the embedded policy, a server's URL, or a model it serves",
        placeholder: "[NAME=]WHERE",
      },
      require: textFlag("Least isolation of the sandbox: none, standard or strict", "LEVEL"),
      valN: textFlag("Generations per problem (default 12)", "N"),
      limit: textFlag("Problems to evaluate, 0 = all (default 0)", "N"),
      concurrency: textFlag("Problems in work at once (default 16)", "N"),
      seed: textFlag("Seeds every draw (default 42)", "N"),
      out: textFlag("Folder of the results, or one .jsonl file (default evals)", "PATH"),
      preset: textFlag("embedded, retool-small or retool-paper", "NAME"),
      config: textFlag("Settings in TOML", "FILE"),
      retryFailed: switchFlag("Ask problems again that have unscored generations"),
      printConfig: PRINT_CONFIG_FLAG,
      ...COMMON_FLAGS,
    },
  },
  func(flags) {
    return runCommand(this, flags, async () => {
      const { evalWork } = await import("../eval/eval-work.ts");
      return evalWork(this, flags);
    });
  },
});
