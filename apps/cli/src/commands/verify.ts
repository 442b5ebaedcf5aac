/** `interlace verify`: its flags. */
import { buildCommand } from "@stricli/core";
import type { CliContext } from "../cli-context.ts";
import { RUNS_FLAG, textFlag } from "./flag-shapes.ts";
import { COMMON_FLAGS, runCommand, type CommonFlags } from "./run-command.ts";

export type VerifyFlags = CommonFlags & {
  readonly tokenizer?: string;
  readonly out: string;
  readonly findings: number;
};

export const verifyCommand = buildCommand<VerifyFlags, [target: string], CliContext>({
  docs: {
    brief: "Check an export again: a run folder or a datums.arrow",
    fullDescription:
      "Holds every number of an export against the rules that it promises to keep, without a server or a GPU.\n" +
      "Exit code 1 when a rule is broken, with row, column, position, what was expected and what was seen; and when\n" +
      "nothing could be checked, for no step of the run is finished. Unfinished steps beside finished ones are only named.",
  },
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [
        { brief: "Run folder, run id, or datums.arrow", parse: String, placeholder: "RUN" },
      ],
    },
    flags: {
      tokenizer: textFlag(
        "Folder of the run's tokenizer, where it has moved or was a server's",
        "DIR",
      ),
      out: RUNS_FLAG,
      findings: {
        kind: "parsed",
        parse: Number,
        default: "5",
        brief: "Findings shown of each rule",
        placeholder: "N",
      },
      ...COMMON_FLAGS,
    },
  },
  func(flags, target) {
    return runCommand(this, flags, async () => {
      const { verifyWork } = await import("../verify/verify-work.ts");
      return verifyWork(this.terminal, flags, target);
    });
  },
});
