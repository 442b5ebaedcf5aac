/**
 * Starts the `interlace` command on any machine that has a Bun: `bun run rollout`, `bun run interlace …`.
 *
 * In: the command's arguments. Out: the command, with the same stdio, signals and exit code.
 * Knows no command: what Python, a sandbox or a server needs is told by the CLI.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isatty } from "node:tty";
import {
  commandEnvironment,
  installWorkspace,
  requirePinnedBun,
  ROOT,
  say,
  SetupError,
} from "./workspace.ts";

async function main(): Promise<void> {
  requirePinnedBun();
  await installWorkspace("run");
  const command = [join(ROOT, "apps/cli/src/main.ts"), ...process.argv.slice(2)];
  if (process.execve === undefined) {
    throw new SetupError(`Expected Linux or macOS, this is ${process.platform}; use a container`);
  }
  if (hasForegroundTerminal()) await runBesideTerminal(command);
  else process.execve(process.execPath, [process.execPath, ...command], commandEnvironment()); // the same pid goes on
}

/**
 * Ctrl-C is sent by the terminal to every process of the foreground, and `bun run` and `npx` then
 * pass on theirs, so that a command in this process's place would count two. As a child it has
 * the terminal's own, once, and this process keeps the copies.
 */
async function runBesideTerminal(command: readonly string[]): Promise<void> {
  const child = Bun.spawn([process.execPath, ...command], {
    env: commandEnvironment(),
    stdin: "inherit",
    stdout: "inherit",
    stderr: "inherit",
  });
  for (const signal of ["SIGINT", "SIGQUIT"] as const) process.on(signal, () => {});
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  // A command ended by a signal gives 128 + its number, as in a shell.
  process.exit(await child.exited);
}

/** Whether keys typed at a terminal, Ctrl-C among them, are sent to this process. */
function hasForegroundTerminal(): boolean {
  if (process.platform !== "linux") return isatty(0) || isatty(1) || isatty(2);
  const stat = readFileSync("/proc/self/stat", "utf8");
  // After "pid (name)": state, parent, group, session, terminal, the terminal's foreground group.
  const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return group === foreground;
}

try {
  await main();
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  say(error.message);
  process.exitCode = 1;
}
