/**
 * One batch, from its problems to its files. In: a prepared run and a step. Out: the step's results, or why it is
 * still open: its log holds everything that was answered, and `--resume` goes on from there.
 */
import { mkdir } from "node:fs/promises";
import { existsSync } from "node:fs";
import {
  isGraded,
  SCHEDULES,
  type Batch,
  type Event,
  type Metrics,
  type Plan,
} from "@interlace/core";
import { openFileEventLog, type FileEventLog } from "../event-log/file-event-log.ts";
import { answerName } from "../event-log/log-line.ts";
import { readEventLog } from "../event-log/read-event-log.ts";
import { findFailedAnswers } from "../event-log/retry-failed.ts";
import { messageOf, workFailed } from "../person-error.ts";
import { throwExplained } from "../event-log/other-prompt.ts";
import { appendMetrics, readMetrics } from "../run-folder/metrics-file.ts";
import { stepFolderOf, type RunFolder, type StepFolder } from "../run-folder/run-folder.ts";
import { formatPlural } from "../terminal/format.ts";
import { startProgress } from "../terminal/progress.ts";
import type { Interrupts } from "../terminal/interrupts.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { exportStep, type ExportedStep } from "./export-step.ts";
import { carriedInto, findSelected, recordCarried, type SelectedMark } from "./carried-groups.ts";
import { collectStep, type CollectedStep } from "./collect-step.ts";
import { tellFirstLosses } from "./first-losses.ts";
import { findGradingLoss, gradeOf, type GradingLoss } from "./grading-loss.ts";
import type { PreparedRun } from "./prepare-run.ts";
import { PROBLEMS_MET, stepProblems, type StepProblems } from "./step-problems.ts";

export type StepInput = {
  readonly run: PreparedRun;
  readonly folder: RunFolder;
  readonly step: number;
  readonly retryFailed: boolean;
  readonly interrupts: Interrupts;
  readonly terminal: Terminal;
  /** Shown before the progress, which is then for a watching person only; default `step N`, also as plain lines. */
  readonly label?: string;
  /** Work that belongs to the step, after its files and before its metrics line; its metrics go into that line. */
  readonly finish?: (files: StepFolder, exported: ExportedStep) => Promise<Metrics>;
};

export type StepResult =
  | ({
      readonly end: "complete";
      readonly files: StepFolder;
      readonly seconds: number;
      readonly times: FileEventLog["times"];
      /** null = the grader decided on something, or was asked nothing. */
      readonly ungraded: GradingLoss | null;
    } & ExportedStep)
  | { readonly end: "interrupted" | "failed"; readonly batch: Batch; readonly asked: number };

export async function rollOutStep(input: StepInput): Promise<StepResult> {
  const { run, folder, step, interrupts, terminal } = input;
  const { config, ports, language } = run;
  const began = performance.now();
  const files = stepFolderOf(folder, step);
  const before = readMetrics(folder.metrics).lines;
  const carried = await carriedInto(folder, config, step);
  const problems = stepProblems(run.data.problems, config, before, step, carried.positions);
  const plan: Plan = { config: config.rollout, protocol: language.protocol, step };
  let asked = problems.first.length * config.rollout.groupSize;
  await using opened = await openStepLog(input, files);
  const { log } = opened;
  const past = opened.isClosed
    ? opened.past
    : [...opened.past, ...recordCarried(log, opened.past, carried)];
  const retriesBefore = ports.retries();
  const progress = startProgress(
    terminal,
    input.label ?? `step ${step}`,
    asked,
    performance.now.bind(performance),
    { liveOnly: input.label !== undefined },
  );
  const tellLoss = tellFirstLosses((line) => terminal.note(`interlace: step ${step}: ${line}`));
  const batch = await collectStep(
    plan,
    config,
    problems,
    { ...ports, log },
    {
      schedule: SCHEDULES[config.run.schedule],
      past,
      questions: opened.selected?.questions ?? null,
      signal: interrupts.signal,
      vocabSize: ports.identity.vocabSize,
      maxFailedFraction: config.run.maxFailedFraction,
      ...(config.run.maxOpenGroups === null ? {} : { maxOpenGroups: config.run.maxOpenGroups }),
      onCommand: log.issued.bind(log),
      onSettled: (_, member) => {
        tellLoss(member);
        if (isGraded(member)) progress.settled(member);
      },
      onWarning: (message) => terminal.note(`interlace: ${message}`),
      onExpected: (trajectories) => {
        asked = trajectories;
        progress.expect(trajectories);
      },
    },
  ).catch((error: unknown) =>
    throwExplained(error, (reason) =>
      workFailed(
        `Step ${step} cannot go on from ${files.events}: ${reason}; restore what was changed, or start a new run`,
        error,
      ),
    ),
  );
  progress.end();
  if (batch.end !== "complete") {
    const by = interrupts.by();
    if (by !== null) log.mark({ type: "interrupted", reason: by });
    await log.sync();
    return { end: batch.end, batch, asked };
  }
  if (batch.missing > 0) {
    terminal.note(
      `interlace: step ${step}: ${formatPlural(batch.missing, "group")} with a signal not found in ` +
        `${formatPlural(batch.groups.length, "problem")}, all that dynamic_sampling.max_problems allows; the batch is smaller`,
    );
  }
  const underWay = findUnderWay(batch, problems);
  if (underWay.length > 0) {
    terminal.note(
      `interlace: step ${step}: ${formatPlural(underWay.length, "group")} still under way, carried into the next batch`,
    );
  }
  if (!opened.isClosed) {
    if (config.dynamicSampling.oversample > 0 && opened.selected === null) {
      const questions = batch.groups.map(({ question }) => question);
      log.mark({ type: "selected", questions, carried: underWay });
    }
    log.mark({ type: "closed" });
  }
  await log.sync();
  const exported = await exportStep(files, {
    config,
    groups: batch.groups,
    context: {
      runId: folder.id,
      step,
      sampler: ports.identity.kind,
      model: ports.identity.model,
      facts: run.facts,
    },
    trajectories: { protocol: language.protocol, firstMessages: language.firstMessages },
    times: log.times,
    retries: subtract(ports.retries(), retriesBefore),
  });
  const more = (await input.finish?.(files, exported)) ?? {};
  const seconds = (performance.now() - began) / 1000;
  const known = opened.selected === null ? underWay : opened.selected.carried;
  const met = { [PROBLEMS_MET]: batch.groups.length + known.length - carried.positions.length };
  const metrics = { ...exported.metrics, ...met, ...more, "time/step_seconds": seconds };
  appendMetrics(folder.metrics, { step, ...metrics });
  const grades = exported.datums.trajectories.map(({ member }) => gradeOf(member));
  const ungraded = findGradingLoss(grades);
  return { end: "complete", files, seconds, times: log.times, ungraded, ...exported, metrics };
}

/** Opened, and not complete when the batch was. */
function findUnderWay(
  { groups, opened }: CollectedStep,
  problems: StepProblems,
): SelectedMark["carried"] {
  const complete = new Set(groups.map(({ question }) => question));
  return Array.from({ length: opened }, (_, question) => question)
    .filter((question) => !complete.has(question) && opened > groups.length)
    .map((question) => ({ question, position: problems.positionOf(question) }));
}

function subtract(
  after: Readonly<Record<string, number>>,
  before: Readonly<Record<string, number>>,
): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)]),
  );
}

type StepLog = AsyncDisposable & {
  readonly log: FileEventLog;
  readonly past: readonly Event[];
  /** Complete already: only its files are missing. */
  readonly isClosed: boolean;
  /** What over-sampling chose; null = nothing was chosen yet, or nothing has to be. */
  readonly selected: SelectedMark | null;
};

/** A new log, or the one that an earlier process left, cut to its last whole line. */
async function openStepLog(
  { run, folder, step, retryFailed, terminal }: StepInput,
  files: StepFolder,
): Promise<StepLog> {
  const opened = {
    type: "opened",
    run_id: folder.id,
    step,
    config_hash: run.facts.configHash,
  } as const;
  const now = (): number => performance.timeOrigin + performance.now();
  if (!existsSync(files.events)) {
    if (existsSync(files.path)) {
      terminal.note(
        `step ${step}: there is no ${files.events}: nothing of it is recorded, it is rolled out from its beginning`,
      );
    }
    await makeFolder(files.path);
    const log = openFileEventLog(files.events, { from: null, now });
    log.mark(opened);
    return {
      log,
      past: [],
      isClosed: false,
      selected: null,
      [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
    };
  }
  const recorded = await readEventLog(files.events);
  if (recorded.tornBytes > 0) {
    terminal.note(
      `interlace: ${files.events}: the last line was cut off by a crash (${formatPlural(recorded.tornBytes, "byte")}); it is asked again`,
    );
  }
  const log = openFileEventLog(files.events, { from: recorded, times: recorded.times, now });
  if (recorded.lines === 0) log.mark(opened);
  const isClosed = recorded.marks.some((mark) => mark.type === "closed");
  if (!isClosed) log.mark({ type: "resumed" });
  const dropped = new Set(retryFailed && !isClosed ? findFailedAnswers(recorded.events) : []);
  if (dropped.size > 0) log.mark({ type: "dropped", answers: [...dropped] });
  const past = recorded.events.filter((event) => !dropped.has(answerName(event)));
  terminal.note(
    `step ${step}: going on after ${formatPlural(past.length, "recorded answer")}` +
      (dropped.size === 0 ? "" : `, asking ${formatPlural(dropped.size, "answer")} again`),
  );
  const selected = findSelected(recorded.marks);
  return { log, past, isClosed, selected, [Symbol.asyncDispose]: () => log[Symbol.asyncDispose]() };
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
  } catch (error) {
    throw workFailed(`Cannot make the folder ${path}: ${messageOf(error)}`, error);
  }
}
