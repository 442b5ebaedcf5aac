/** In: steps and how they ended. Out: what a person reads, or one JSON object. */
import { existsSync } from "node:fs";
import { findWaste, ledgerToJson } from "@interlace/core";
import type { ResumedRun } from "../run-folder/open-run.ts";
import { resumeCommand } from "../run-folder/resume-command.ts";
import { stepFolderOf, type RunFolder } from "../run-folder/run-folder.ts";
import { formatCount, formatCounts, formatPlural } from "../terminal/format.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { describeGradingLoss, sumGradingLosses, type GradingLoss } from "./grading-loss.ts";
import { chooseGrader } from "./open-grader.ts";
import type { PreparedRun } from "./prepare-run.ts";
import type { StepResult } from "./roll-out-step.ts";
import { chooseExample, showTrajectory } from "./show-trajectory.ts";
import { summariseStep } from "./summarise-step.ts";

export type FinishedStep = { readonly step: number } & Extract<StepResult, { end: "complete" }>;
/** What the end of a run tells of a step: its trajectories would fill the memory, step after step. */
export type StepOutline = Pick<
  FinishedStep,
  "step" | "ledger" | "metrics" | "files" | "seconds" | "ungraded"
>;
export type OpenStep = { readonly step: number } & Exclude<StepResult, { end: "complete" }>;

export type RunEnd = {
  readonly run: PreparedRun;
  readonly folder: RunFolder;
  /** As it was found; null = it began in this process. */
  readonly resumed: ResumedRun | null;
  readonly finished: readonly StepOutline[];
  /** The step that did not end; null = all did. */
  readonly open: OpenStep | null;
  /** Interrupted between two steps, while a trainer of the user's own trained: steps that it had acknowledged. */
  readonly acknowledged?: number;
};

export function outlineOf(finished: FinishedStep): StepOutline {
  const { step, ledger, metrics, files, seconds, ungraded } = finished;
  return { step, ledger, metrics, files, seconds, ungraded };
}

export function reportStep(
  run: PreparedRun,
  finished: FinishedStep,
  json: boolean,
  terminal: Terminal,
): void {
  if (json) return;
  const example = chooseExample(finished.datums);
  terminal.out("");
  if (example !== null) {
    for (const line of showTrajectory(run.language, example, terminal)) terminal.out(line);
    terminal.out("");
  }
  for (const line of summariseStep(finished, terminal)) terminal.out(line);
}

/** Returns the exit code: a run whose steps are all whole has failed where no answer has a verdict. */
export function reportEnd(end: RunEnd, json: boolean, terminal: Terminal): 0 | 1 {
  const { open, acknowledged, finished } = end;
  const isWhole = open === null && acknowledged === undefined;
  const ungraded = isWhole ? sumGradingLosses(finished.map((step) => step.ungraded)) : null;
  if (json) terminal.out(JSON.stringify(endToJson(end, ungraded)));
  else printEnd(end, ungraded, terminal);
  return isWhole && ungraded === null ? 0 : 1;
}

function printEnd(end: RunEnd, ungraded: GradingLoss | null, terminal: Terminal): void {
  const { open, acknowledged } = end;
  const goOn = resumeCommand({ command: "rollout", config: end.run.config, ...end });
  if (acknowledged !== undefined) {
    const trained = formatPlural(acknowledged, "step");
    terminal.note(
      `interlace: interrupted while the learner trains; it has acknowledged ${trained}`,
    );
    terminal.note(`Go on with: ${goOn}`);
    return;
  }
  if (ungraded !== null) {
    const { run, folder } = end;
    terminal.note(`interlace: nothing can be learnt from this: ${describeGradingLoss(ungraded)}`);
    terminal.note(
      "What was sampled is kept; when the grader is mended: " +
        `bun run interlace replay ${folder.path} --grader ${chooseGrader(run.config)} --out DIR`,
    );
    return;
  }
  if (open === null) {
    for (const line of nextSteps(end)) terminal.out(line);
    return;
  }
  const { batch, step, asked } = open;
  const lost = [...batch.failures.values()].reduce((sum, count) => sum + count, 0);
  if (open.end === "failed") {
    terminal.note(
      `interlace: step ${step} failed: ${formatCount(lost)} of ${formatCount(asked)} trajectories were lost ` +
        `(${formatCounts(Object.fromEntries(batch.failures))}), more than run.max_failed_fraction allows; ` +
        "what was answered is kept",
    );
    terminal.note(`When the cause is mended: ${goOn} --retry-failed`);
    return;
  }
  terminal.note(
    `interlace: interrupted in step ${step} with ${formatCount(batch.groups.length)} groups complete; nothing that was answered is lost`,
  );
  terminal.note(`Go on with: ${goOn}`);
}

function nextSteps({ run, folder, finished }: RunEnd): readonly string[] {
  if (finished.length === 0) {
    const next = run.config.run.steps;
    return existsSync(stepFolderOf(folder, next).path)
      ? [`${folder.path}: step ${next} is begun; --steps ${next + 1} finishes it`]
      : [`${folder.path} is complete: all steps are done; --steps N rolls out more`];
  }
  const more = run.config.run.steps + 1;
  const commands: [string, string][] = [
    [`interlace view ${folder.path}`, "every trajectory, token by token, in a browser"],
    [`interlace verify ${folder.path}`, "holds every number of it against its rules"],
    [`rollout --resume ${folder.path} --steps ${more}`, "one more batch of this run"],
  ];
  if (run.data.isBuiltIn) {
    commands.push(["rollout --data FILE", "your own problems: JSONL, CSV, Parquet, Arrow"]);
  }
  const width = Math.max(...commands.map(([command]) => command.length));
  return [
    "",
    ...commands.map(
      ([command, what], i) =>
        `${i === 0 ? "Next:" : "     "} bun run ${command.padEnd(width)}  ${what}`,
    ),
  ];
}

function endToJson(
  { folder, finished, open, acknowledged }: RunEnd,
  ungraded: GradingLoss | null,
): Record<string, unknown> {
  const whole = ungraded === null ? "complete" : "failed";
  return {
    run_id: folder.id,
    path: folder.path,
    end: open?.end ?? (acknowledged === undefined ? whole : "interrupted"),
    ...(ungraded === null ? {} : { ungraded }),
    ...(acknowledged === undefined ? {} : { acknowledged_steps: acknowledged }),
    steps: finished.map(stepToJson),
    ...(open === null
      ? {}
      : {
          open_step: {
            step: open.step,
            complete_groups: open.batch.groups.length,
            failures: Object.fromEntries(open.batch.failures),
          },
        }),
  };
}

function stepToJson({
  step,
  ledger,
  metrics,
  files,
  seconds,
}: StepOutline): Record<string, unknown> {
  const { datums, trajectories, ledger: ledgerFile, events } = files;
  return {
    step,
    seconds,
    metrics,
    ledger: ledgerToJson(ledger),
    waste: findWaste(ledger),
    files: { datums, trajectories, ledger: ledgerFile, events },
  };
}
