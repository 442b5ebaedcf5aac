/** `interlace eval compare`: its flags. */
import { buildCommand } from "@stricli/core";
import type { CliContext } from "../cli-context.ts";
import { textFlagOr } from "./flag-shapes.ts";
import { COMMON_FLAGS, runCommand, type CommonFlags } from "./run-command.ts";

export type EvalCompareFlags = CommonFlags & { readonly out: string };

export const evalCompareCommand = buildCommand<EvalCompareFlags, string[], CliContext>({
  docs: {
    brief: "Evaluations beside each other: a table, paired tests, a plot",
    fullDescription:
      "Holds results of the same problems and settings against the first one named, and writes a Markdown table\n" +
      "and a plot as SVG and PNG. Refuses results whose settings differ, and says in which field.",
  },
  parameters: {
    positional: {
      kind: "array",
      minimum: 1,
      parameter: { brief: "Results of eval", parse: String, placeholder: "FILE.jsonl" },
    },
    flags: {
      out: textFlagOr(
        "evals/comparison",
        "Files to write, without their endings .md, .svg and .png",
        "PATH",
      ),
      ...COMMON_FLAGS,
    },
  },
  func(flags, ...paths) {
    return runCommand(this, flags, async () => {
      const { compareWork } = await import("../eval-compare/compare-work.ts");
      return compareWork(this.terminal, flags, paths);
    });
  },
});
