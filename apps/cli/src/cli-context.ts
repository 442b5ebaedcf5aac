/** What every command is given: where its lines go, its environment, and how it ends. */
import type { CommandContext } from "@stricli/core";
import type { Terminal } from "./terminal/terminal.ts";

export type CliContext = CommandContext & {
  readonly terminal: Terminal;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** 0 fine, 1 the work failed or a check found something, 2 wrong use. */
  readonly setExitCode: (code: 0 | 1 | 2) => void;
};
