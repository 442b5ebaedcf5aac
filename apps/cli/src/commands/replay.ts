/** `interlace replay`: its flags. */
import { buildCommand } from "@stricli/core";
import type { CliContext } from "../cli-context.ts";
import { RUNS_FLAG, textFlag } from "./flag-shapes.ts";
import { COMMON_FLAGS, runCommand, type CommonFlags } from "./run-command.ts";

export type ReplayFlags = CommonFlags & {
  readonly runs: string;
  readonly out?: string;
  readonly config?: string;
  readonly grader?: string;
  readonly tokenizer?: string;
  readonly redact?: string;
};

export const replayCommand = buildCommand<ReplayFlags, [run: string], CliContext>({
  docs: {
    brief: "The same run again from its recording, without a server",
    fullDescription:
      "Steps the event log of a run again: no server, no Python. Unchanged, the files must come out byte for byte.\n" +
      "--grader scores the recorded answers again; --config changes settings and says where the recording ends.",
  },
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [{ brief: "Run folder or run id", parse: String, placeholder: "RUN" }],
    },
    flags: {
      out: textFlag("Folder for the files (default: compared, then thrown away)", "DIR"),
      grader: textFlag("Score again with this grader", "NAME"),
      config: textFlag("Settings that the replay changes, in TOML", "FILE"),
      tokenizer: textFlag(
        "Folder of the run's tokenizer, where it has moved or was a server's",
        "DIR",
      ),
      redact: textFlag(
        "Instead: copy the run to this folder without its texts, for a bug report",
        "DIR",
      ),
      runs: RUNS_FLAG,
      ...COMMON_FLAGS,
    },
  },
  func(flags, run) {
    return runCommand(this, flags, async () => {
      const { replayWork } = await import("../replay/replay-work.ts");
      return replayWork(this.terminal, flags, run);
    });
  },
});
