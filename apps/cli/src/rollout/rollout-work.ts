/** The work of `interlace rollout`, from flags to an exit code. */
import type { CliContext } from "../cli-context.ts";
import type { RolloutFlags } from "../commands/rollout.ts";
import type { ResumedRun } from "../run-folder/open-run.ts";
import type { RunFolder } from "../run-folder/run-folder.ts";
import type { Interrupts } from "../terminal/interrupts.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { settingsOfFlags } from "./flag-settings.ts";
import { openHandoff, type Handoff } from "./handoff.ts";
import type { PreparedRun, Surroundings } from "./prepare-run.ts";
import { reportEnd, reportStep, type FinishedStep } from "./report.ts";
import { rollOutStep } from "./roll-out-step.ts";
import { startRun } from "./start-run.ts";

/** After which a person is told what is waited for. */
const SILENT_MS = 2000;

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
  const { run, folder, resumed } = started;
  const handoff = stack.use(await openHandoff(run.config, folder, resumed?.done.length ?? 0));
  if (handoff.described !== null) context.terminal.note(`learner  ${handoff.described}`);
  return await rollOutSteps({ ...started, handoff, terminal: context.terminal }, flags);
}

type Work = {
  readonly run: PreparedRun;
  readonly folder: RunFolder;
  readonly resumed: ResumedRun | null;
  readonly interrupts: Interrupts;
  readonly handoff: Handoff;
  readonly terminal: Terminal;
};

async function rollOutSteps(work: Work, flags: RolloutFlags): Promise<0 | 1> {
  const { run, folder, resumed, interrupts, handoff, terminal } = work;
  const finished: FinishedStep[] = [];
  const first = resumed?.done.length ?? 0;
  const { steps } = run.config.run;

  /** False where the person had no patience with the trainer; all steps are whole then. */
  async function isGranted(wait: () => Promise<void>): Promise<boolean> {
    const patience = setTimeout(() => {
      const nobody = handoff.isConnected() === false ? ", and none has connected" : "";
      terminal.note(`interlace: waiting for the learner to acknowledge a step${nobody}`);
    }, SILENT_MS);
    try {
      await wait();
      return true;
    } catch (error) {
      if (!interrupts.signal.aborted) throw error;
      const acknowledged = await handoff.acknowledged();
      const end = { run, folder, resumed, finished, open: null, acknowledged };
      reportEnd(end, flags.json === true, terminal);
      return false;
    } finally {
      clearTimeout(patience);
    }
  }

  for (let step = first; step < steps; step++) {
    if (!(await isGranted(() => handoff.whenWanted(step, interrupts.signal)))) return 1;
    const retryFailed = flags.retryFailed === true;
    const result = await rollOutStep({ run, folder, step, retryFailed, interrupts, terminal });
    if (result.end !== "complete") {
      reportEnd(
        { run, folder, resumed, finished, open: { step, ...result } },
        flags.json === true,
        terminal,
      );
      return 1;
    }
    finished.push({ step, ...result });
    handoff.offer(step + 1);
    reportStep(run, { step, ...result }, flags.json === true, terminal);
  }
  if (!(await isGranted(() => handoff.finish(steps, interrupts.signal)))) return 1;
  reportEnd({ run, folder, resumed, finished, open: null }, flags.json === true, terminal);
  return 0;
}
