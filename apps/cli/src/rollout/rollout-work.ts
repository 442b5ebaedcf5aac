/** The work of `interlace rollout`, from flags to an exit code. */
import type { CliContext } from "../cli-context.ts";
import type { RolloutFlags } from "../commands/rollout.ts";
import type { ResumedRun } from "../run-folder/open-run.ts";
import type { RunFolder } from "../run-folder/run-folder.ts";
import type { Interrupts } from "../terminal/interrupts.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { settingsOfFlags } from "./flag-settings.ts";
import type { PreparedRun, Surroundings } from "./prepare-run.ts";
import { reportEnd, reportStep, type FinishedStep } from "./report.ts";
import { rollOutStep } from "./roll-out-step.ts";
import { startRun } from "./start-run.ts";

/** `ports`: what opens sampler, sandbox and grader, where not as configured. */
export async function rolloutWork(
  context: Pick<CliContext, "terminal" | "env">,
  flags: RolloutFlags,
  ports: Pick<Surroundings, "openPorts"> = {},
): Promise<0 | 1> {
  await using stack = new AsyncDisposableStack();
  const options = { command: "rollout", settings: settingsOfFlags(flags), ports } as const;
  const started = await startRun(context, flags, options, stack);
  if (started === null) return 0;
  return await rollOutSteps({ ...started, terminal: context.terminal }, flags);
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
