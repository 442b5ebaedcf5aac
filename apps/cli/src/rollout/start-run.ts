/**
 * From flags to a run that only has to be carried out, the same for every command that makes one: settings, locks,
 * what a person should know, the folder. Nothing is written before all of it has been looked at.
 */
import { rmSync } from "node:fs";
import type { CliContext } from "../cli-context.ts";
import type { CommonFlags } from "../commands/run-command.ts";
import { showSettings } from "../config/print.ts";
import type { ConfigSources } from "../config/resolve.ts";
import type { Config } from "../config/schema.ts";
import { findWarnings } from "../config/warnings.ts";
import { workFailed, wrongUse } from "../person-error.ts";
import { createRun, resumeRun, type ResumedRun } from "../run-folder/open-run.ts";
import { newRunId, type RunFolder } from "../run-folder/run-folder.ts";
import { writeRunRecord, type RunCommand } from "../run-folder/run-record.ts";
import { listenForInterrupts, type Interrupts } from "../terminal/interrupts.ts";
import { describeStart } from "./describe-start.ts";
import { prepareRun, type PreparedRun, type Surroundings } from "./prepare-run.ts";
import { settleConfig } from "./settle-config.ts";

/** Flags that every command which makes runs has. */
export type RunFlags = CommonFlags & {
  readonly out?: string;
  readonly preset?: string;
  readonly config?: string;
  readonly resume?: string;
  readonly retryFailed?: boolean;
  readonly printConfig?: boolean;
};

export type StartOptions = {
  readonly command: RunCommand;
  readonly settings: ConfigSources["flags"];
  readonly surroundings?: Pick<Surroundings, "openPorts" | "loadRest">;
  /** What else the command needs; it throws before anything is opened or written. */
  readonly before?: (config: Config, tell: (line: string) => void) => Promise<void>;
};

export type StartedRun = {
  readonly run: PreparedRun;
  readonly folder: RunFolder;
  readonly resumed: ResumedRun | null;
  readonly interrupts: Interrupts;
};

/** null = the person only wanted to see the settings. `stack` owns what is opened. */
export async function startRun(
  { terminal, env }: Pick<CliContext, "terminal" | "env">,
  flags: RunFlags,
  options: StartOptions,
  stack: AsyncDisposableStack,
): Promise<StartedRun | null> {
  if (flags.retryFailed === true && flags.resume === undefined) {
    throw wrongUse("--retry-failed needs --resume RUN: it asks again what failed in that run");
  }
  const resumed =
    flags.resume === undefined ? null : await resumeRun(flags.resume, flags.out ?? "runs");
  if (resumed !== null) {
    stack.use(resumed.lock);
    refuseOtherCommand(resumed, options.command);
  }
  const { file, preset } = { file: flags.config, preset: flags.preset };
  const sources = { flags: options.settings, env, file, preset };
  const resolved = await settleConfig(sources, resumed?.record ?? null);
  if (flags.printConfig === true) {
    terminal.out(showSettings(resolved, flags.json === true));
    return null;
  }
  const interrupts = stack.use(
    listenForInterrupts(() =>
      terminal.note(
        "Stopping: cancelling what runs, keeping what is complete (again: stop at once)",
      ),
    ),
  );
  const tell = (line: string): void => terminal.note(`interlace: ${line}`);
  for (const warning of findWarnings(resolved.config)) tell(warning);
  const now = new Date();
  const identity = { id: newRunId(now, Math.random), now, command: options.command };
  const surroundings = { stack, signal: interrupts.signal, tell, ...options.surroundings };
  const run = await prepareUninterrupted(interrupts, async () => {
    await options.before?.(resolved.config, tell);
    return prepareRun(resolved, resumed?.record ?? null, identity, surroundings);
  });
  const folder = resumed?.folder ?? (await startFolder(run, stack));
  for (const line of describeStart(run, folder, resumed)) terminal.note(line);
  return { run, folder, resumed, interrupts };
}

/** A step of training samples from trained weights: the other command would mix them with the first ones. */
function refuseOtherCommand({ record, folder }: ResumedRun, command: RunCommand): void {
  if (record.command === command) return;
  throw wrongUse(
    `Run ${record.run_id} was made by ${record.command}: go on with bun run ${record.command} --resume ${folder.path}`,
  );
}

/** Interrupted before anything was started: nothing to resume, nothing to explain. */
async function prepareUninterrupted<T>(interrupts: Interrupts, work: () => Promise<T>): Promise<T> {
  try {
    const done = await work();
    if (!interrupts.signal.aborted) return done;
  } catch (error) {
    if (!interrupts.signal.aborted) throw error;
  }
  throw workFailed("Interrupted before anything was sampled; nothing was written");
}

async function startFolder(run: PreparedRun, stack: AsyncDisposableStack): Promise<RunFolder> {
  const { folder, lock } = createRun(run.config.run.out, run.record.run_id);
  stack.use(lock);
  try {
    await writeRunRecord(folder, run.record);
  } catch (error) {
    // Without a record it is no run: nobody could go on with it.
    rmSync(folder.path, { recursive: true, force: true });
    throw error;
  }
  return folder;
}
