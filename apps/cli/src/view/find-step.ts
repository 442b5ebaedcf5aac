/** Which step a page is of. In: a run, and the step that was asked for. Out: its files, and what there is beside it. */
import { existsSync } from "node:fs";
import { wrongUse } from "../person-error.ts";
import { listSteps, type FoundRun } from "../run-folder/find-run.ts";
import { readMetrics, type MetricsLine } from "../run-folder/metrics-file.ts";
import { stepFolderOf, type StepFolder } from "../run-folder/run-folder.ts";

export type ViewedStep = {
  readonly step: number;
  readonly files: StepFolder;
  /** Steps that have their Arrow files, this one included. */
  readonly whole: readonly number[];
  /** Steps that have a log and no Arrow file: interrupted, or still under way. */
  readonly open: readonly number[];
  /** One line a finished step. */
  readonly metrics: readonly MetricsLine[];
};

/** The last whole step where none is asked for. Throws a PersonError when there is nothing to show. */
export function findStep({ folder, record }: FoundRun, asked: number | null): ViewedStep {
  const steps = listSteps(folder);
  const isWhole = (step: number): boolean => {
    const { trajectories, datums } = stepFolderOf(folder, step);
    return existsSync(trajectories) && existsSync(datums);
  };
  const whole = steps.filter(isWhole);
  const open = steps.filter((step) => !whole.includes(step));
  const resume = `${record.command} --resume ${folder.path} goes on with it`;
  const step = asked ?? whole.at(-1);
  if (step === undefined) {
    const why = open.length === 0 ? "has no step" : `has only the open step ${open.join(", ")}`;
    throw wrongUse(
      `${folder.path} ${why}: a page needs a step that was written to the end${open.length === 0 ? "" : `; ${resume}`}`,
    );
  }
  if (!whole.includes(step)) {
    const there =
      whole.length === 0 ? "no step can be viewed yet" : `${listSpans(whole)} can be viewed`;
    throw wrongUse(
      open.includes(step)
        ? `Step ${step} of ${folder.path} was interrupted or is under way: it has a log and no trajectories.arrow yet; ${resume}, ${there}`
        : `There is no step ${step} in ${folder.path}: ${there}`,
    );
  }
  const { lines } = readMetrics(folder.metrics);
  return { step, files: stepFolderOf(folder, step), whole, open, metrics: lines };
}

/** `step 0`, `steps 0–3, 5`. */
export function listSpans(steps: readonly number[]): string {
  const spans: { first: number; last: number }[] = [];
  for (const step of steps) {
    const span = spans.at(-1);
    if (span !== undefined && step === span.last + 1) span.last = step;
    else spans.push({ first: step, last: step });
  }
  const names = spans.map(({ first, last }) => (first === last ? `${first}` : `${first}–${last}`));
  return `${steps.length === 1 ? "step" : "steps"} ${names.join(", ")}`;
}
