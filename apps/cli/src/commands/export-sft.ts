/** `interlace export sft`: its flags. */
import { buildCommand } from "@stricli/core";
import type { CliContext } from "../cli-context.ts";
import { RUNS_FLAG, textFlag } from "./flag-shapes.ts";
import { COMMON_FLAGS, runCommand, type CommonFlags } from "./run-command.ts";

export type ExportSftFlags = CommonFlags & {
  readonly out?: string;
  readonly perProblem?: number;
  readonly runs: string;
};

export const exportSftCommand = buildCommand<ExportSftFlags, [run: string], CliContext>({
  docs: {
    brief: "Right trajectories as conversations, for fine-tuning or rejection sampling",
    fullDescription:
      "Writes chat JSONL and Parquet: every right trajectory that ended by itself, without doubles. A call is the\n" +
      "text that the model wrote; the tool's result follows as a message of its own.",
  },
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [{ brief: "Run folder or run id", parse: String, placeholder: "RUN" }],
    },
    flags: {
      out: textFlag("Files to write, without .jsonl and .parquet (default: RUN/sft)", "PATH"),
      perProblem: {
        kind: "parsed",
        parse: parseCount,
        optional: true,
        brief: "Trajectories of one problem at most, the first ones (default: all)",
        placeholder: "N",
      },
      runs: RUNS_FLAG,
      ...COMMON_FLAGS,
    },
  },
  func(flags, run) {
    return runCommand(this, flags, async () => {
      const { exportSftWork } = await import("../export-sft/export-sft-work.ts");
      return exportSftWork(this.terminal, flags, run);
    });
  },
});

function parseCount(text: string): number {
  const count = Number(text);
  if (/^[1-9]\d*$/.test(text) && Number.isSafeInteger(count)) return count;
  throw new RangeError(`expected an integer of at least 1, seen ${JSON.stringify(text)}`);
}
