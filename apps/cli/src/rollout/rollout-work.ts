/** The work of `interlace rollout`, from flags to an exit code. */
import { rmSync } from "node:fs";
import type { CliContext } from "../app.ts";
import type { RolloutFlags } from "../commands/rollout.ts";
import { listSettings, printConfig } from "../config/print.ts";
import { findWarnings } from "../config/warnings.ts";
import { workFailed, wrongUse } from "../person-error.ts";
import { createRun, resumeRun, type ResumedRun } from "../run-folder/open-run.ts";
import { newRunId, type RunFolder } from "../run-folder/run-folder.ts";
import { writeRunRecord } from "../run-folder/run-record.ts";
import { listenForInterrupts, type Interrupts } from "../terminal/interrupts.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { settingsOfFlags } from "./flag-settings.ts";
import { describeStart } from "./describe-start.ts";
import { prepareRun, type PreparedRun, type Surroundings } from "./prepare-run.ts";
import { reportEnd, reportStep, type FinishedStep } from "./report.ts";
import { rollOutStep } from "./roll-out-step.ts";
import { settleConfig } from "./settle-config.ts";

/** `ports`: what opens sampler, sandbox and grader, where not as configured. */
export async function rolloutWork(
  context: Pick<CliContext, "terminal" | "env">,
  flags: RolloutFlags,
  ports: Pick<Surroundings, "openPorts"> = {},
): Promise<0 | 1> {
  const { terminal, env } = context;
  if (flags.retryFailed === true && flags.resume === undefined) {
    throw wrongUse("--retry-failed needs --resume RUN: it asks again what failed in that run");
  }
  const sources = {
    flags: settingsOfFlags(flags),
    env,
    file: flags.config,
    preset: flags.preset,
  };
  await using stack = new AsyncDisposableStack();
  const resumed =
    flags.resume === undefined ? null : await resumeRun(flags.resume, flags.out ?? "runs");
  if (resumed !== null) stack.use(resumed.lock);
  const resolved = await settleConfig(sources, resumed?.record ?? null);
  if (flags.printConfig === true) {
    terminal.out(
      flags.json === true
        ? JSON.stringify(Object.fromEntries(listSettings(resolved)))
        : printConfig(resolved),
    );
    return 0;
  }
  using interrupts = listenForInterrupts(() =>
    terminal.note("Stopping: cancelling what runs, keeping what is complete (again: stop at once)"),
  );
  const { signal } = interrupts;
  const tell = (line: string): void => terminal.note(`interlace: ${line}`);
  for (const warning of findWarnings(resolved.config)) terminal.note(`interlace: ${warning}`);
  const now = new Date();
  const run = await prepareUninterrupted(interrupts, () =>
    prepareRun(
      resolved,
      resumed?.record ?? null,
      { id: newRunId(now, Math.random), now },
      { stack, signal, tell, ...ports },
    ),
  );
  const folder = resumed?.folder ?? (await startFolder(run, stack));
  for (const line of describeStart(run, folder, resumed)) terminal.note(line);
  return await rollOutSteps({ run, folder, resumed, interrupts, terminal }, flags);
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

type Work = {
  readonly run: PreparedRun;
  readonly folder: RunFolder;
  readonly resumed: ResumedRun | null;
  readonly interrupts: Interrupts;
  readonly terminal: Terminal;
};

async function rollOutSteps(work: Work, flags: RolloutFlags): Promise<0 | 1> {
  const { run, folder, resumed, interrupts, terminal } = work;
  const finished: FinishedStep[] = [];
  const first = resumed?.done.length ?? 0;
  const { steps } = run.config.run;
  for (let step = first; step < steps; step++) {
    const retryFailed = flags.retryFailed === true;
    const result = await rollOutStep({ run, folder, step, retryFailed, interrupts, terminal });
    if (result.end !== "complete") {
      reportEnd(
        { run, folder, finished, open: { step, ...result } },
        flags.json === true,
        terminal,
      );
      return 1;
    }
    finished.push({ step, ...result });
    reportStep(run, { step, ...result }, flags.json === true, terminal);
  }
  reportEnd({ run, folder, finished, open: null }, flags.json === true, terminal);
  return 0;
}
