/** `interlace view`: its flags. */
import { buildCommand } from "@stricli/core";
import type { CliContext } from "../cli-context.ts";
import { KINDS, type Kind } from "../view/choice.ts";
import { RUNS_FLAG, textFlag } from "./flag-shapes.ts";
import { COMMON_FLAGS, runCommand, type CommonFlags } from "./run-command.ts";

export type ViewFlags = CommonFlags & {
  readonly step?: number;
  readonly question?: number;
  readonly only?: Kind;
  readonly limit?: number;
  readonly out?: string;
  readonly tokenizer?: string;
  readonly runs: string;
};

export const viewCommand = buildCommand<ViewFlags, [run: string], CliContext>({
  docs: {
    brief: "A run's trajectories as one HTML file, to be read in a browser",
    fullDescription:
      "Writes a page that needs nothing else, no network and no script: each trajectory of a step token by token,\n" +
      "coloured by mask, logprob or advantage, with tool calls, verdicts, metrics and ledger.",
  },
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [{ brief: "Run folder or run id", parse: String, placeholder: "RUN" }],
    },
    flags: {
      step: numberFlag(0, "Step to show, from 0 (default: the last one that is whole)"),
      question: numberFlag(0, "Only this problem of the step, from 0"),
      only: {
        kind: "enum",
        values: KINDS,
        optional: true,
        brief: "Only trajectories of this kind",
      },
      limit: numberFlag(1, "Trajectories shown at most (default: 64, fewer where they are long)"),
      out: textFlag("File to write (default: RUN/view.html)", "FILE"),
      tokenizer: textFlag(
        "Folder of the run's tokenizer, where it has moved or was a server's",
        "DIR",
      ),
      runs: RUNS_FLAG,
      ...COMMON_FLAGS,
    },
  },
  func(flags, run) {
    return runCommand(this, flags, async () => {
      const { viewWork } = await import("../view/view-work.ts");
      return viewWork(this.terminal, flags, run);
    });
  },
});

function numberFlag(least: number, brief: string) {
  const parse = (text: string): number => {
    const number = Number(text);
    if (/^\d+$/.test(text) && Number.isSafeInteger(number) && number >= least) return number;
    throw new RangeError(`expected an integer of at least ${least}, seen ${JSON.stringify(text)}`);
  };
  return { kind: "parsed", parse, optional: true, brief, placeholder: "N" } as const;
}
