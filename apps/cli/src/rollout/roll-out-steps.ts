/**
 * All steps of a run, one after the other. In: a started run and who takes its steps. Out: an exit code; what a person
 * reads is printed on the way.
 */
import type { RolloutFlags } from "../commands/rollout.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { Handoff } from "./handoff.ts";
import { outlineOf, reportEnd, reportStep, type StepOutline } from "./report.ts";
import { rollOutStep } from "./roll-out-step.ts";
import type { StartedRun } from "./start-run.ts";

/** After which a person is told what is waited for. */
const SILENT_MS = 2000;

type Work = StartedRun & { readonly handoff: Handoff; readonly terminal: Terminal };

export async function rollOutSteps(work: Work, flags: RolloutFlags): Promise<0 | 1> {
  const { run, folder, resumed, interrupts, handoff, terminal } = work;
  const finished: StepOutline[] = [];
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
    const whole = { step, ...result };
    finished.push(outlineOf(whole));
    handoff.offer(step + 1);
    reportStep(run, whole, flags.json === true, terminal);
  }
  if (!(await isGranted(() => handoff.finish(steps, interrupts.signal)))) return 1;
  return reportEnd({ run, folder, resumed, finished, open: null }, flags.json === true, terminal);
}
