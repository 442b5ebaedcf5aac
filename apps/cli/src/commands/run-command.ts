/** What all commands share: two flags, and how an error reaches a person. */
import type { CliContext } from "../cli-context.ts";
import { messageOf, PersonError } from "../person-error.ts";
import { switchFlag } from "./flag-shapes.ts";

export type CommonFlags = { readonly json?: boolean; readonly debug?: boolean };

export const COMMON_FLAGS = {
  json: switchFlag("Print results as JSON"),
  debug: switchFlag("Print where an error came from"),
} as const;

/** Runs `work`; what it throws is printed as one message, with a stack trace only on `--debug`. */
export async function runCommand(
  context: CliContext,
  flags: CommonFlags,
  work: () => Promise<0 | 1 | 2>,
): Promise<void> {
  try {
    context.setExitCode(await work());
  } catch (error) {
    const { terminal } = context;
    terminal.clearLive();
    const code = error instanceof PersonError ? error.exitCode : 1;
    const message = messageOf(error);
    if (flags.json === true) terminal.out(JSON.stringify({ error: { message, exit_code: code } }));
    terminal.note(`interlace: ${message}`);
    if (flags.debug === true) terminal.note(traceOf(error));
    else if (!(error instanceof PersonError)) {
      terminal.note("interlace: this is a bug of Interlace; --debug shows where it came from");
    }
    context.setExitCode(code);
  }
}

function traceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : `\nCaused by: ${traceOf(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}
