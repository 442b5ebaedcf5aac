/**
 * A whole run folder: every step's files by themselves, against each other, and against the event log.
 * In: a run. Out: findings, and which steps were checked. What needs a file that is not there is said, not guessed.
 */
import { existsSync } from "node:fs";
import { basename } from "node:path";
import {
  checkGradedText,
  checkMessages,
  checkStep,
  checkTexts,
  ledgerFromJson,
  type Group,
  type Ledger,
  type Metrics,
  type Reporter,
} from "@interlace/core";
import { readTrajectories, type TrajectoryRow } from "@interlace/train-bridge";
import type { Config } from "../config/schema.ts";
import { messageOf } from "../person-error.ts";
import type { Language } from "../rollout/open-language.ts";
import { gradesBoxes } from "../rollout/open-grader.ts";
import { stepOptions } from "../rollout/step-options.ts";
import { listSteps, type FoundRun } from "../run-folder/find-run.ts";
import { readMetrics } from "../run-folder/metrics-file.ts";
import { stepFolderOf, type StepFolder } from "../run-folder/run-folder.ts";
import { verifyDatums } from "./verify-datums.ts";

export type RunChecks = {
  readonly config: Config;
  /** null = no tokenizer is at hand. */
  readonly language: Language | null;
  /** Texts were filled: what follows from them cannot be checked. */
  readonly isRedacted: boolean;
  /** Compares the event log, stepped again, with the groups; null = what it needs is not at hand. */
  readonly checkEventLog: ((step: number, groups: readonly Group[]) => Promise<void>) | null;
};

export type VerifiedSteps = {
  readonly checked: readonly number[];
  /** Steps without their line in metrics.jsonl, which is written last: no export yet, and no damage. */
  readonly unfinished: readonly number[];
};

export async function verifyRun(
  run: FoundRun,
  checks: RunChecks,
  out: Reporter,
): Promise<VerifiedSteps> {
  // Before the folders are listed: a run that is working meanwhile only ever has more.
  const lines = readMetricsLines(run, out);
  const metrics: ReadonlyMap<number, Metrics> = lines ?? new Map();
  const steps = new Set([...listSteps(run.folder), ...metrics.keys()]);
  const checked: number[] = [];
  const unfinished: number[] = [];
  for (const step of [...steps].toSorted((a, b) => a - b)) {
    const files = stepFolderOf(run.folder, step);
    const line = metrics.get(step) ?? null;
    // Lines that cannot be read say nothing about which steps are whole; their files do.
    const isWhole = lines === null ? existsSync(files.datums) : step < lines.size;
    if (!isWhole) {
      unfinished.push(step);
      continue;
    }
    checked.push(step);
    await verifyStep(files, step, line, checks, out);
  }
  return { checked, unfinished };
}

async function verifyStep(
  files: StepFolder,
  step: number,
  metrics: Metrics | null,
  checks: RunChecks,
  out: Reporter,
): Promise<void> {
  const inStep = (path: string) => `${basename(files.path)}/${basename(path)}`;
  const names = {
    datums: inStep(files.datums),
    trajectories: inStep(files.trajectories),
    ledger: inStep(files.ledger),
    metrics: "metrics.jsonl",
  };
  if (metrics === null)
    out.fail("metrics", { where: names.metrics }, `a line of step ${step}`, "none");
  const ledger = await readLedger(files.ledger, names.ledger, out);
  const datums = verifyDatums(files.datums, names.datums, out);
  const rows = readRows(files.trajectories, names.trajectories, out);
  if (datums === null || rows === null) return;
  const { metadata } = datums;
  const { rollout } = checks.config;
  const groups = checkStep(
    { trajectories: rows, datums: datums.rows, metrics, ledger },
    {
      groupSize: metadata.groupSize,
      vocabSize: metadata.vocabSize,
      maxTrajectoryTokens: rollout.maxTrajectoryTokens,
      names,
      datums: stepOptions(checks.config, metadata.maxContextTokens),
    },
    out,
  );
  const places = rows.map((_, row) => ({ where: names.trajectories, row }));
  for (const [i, row] of rows.entries()) {
    if (gradesBoxes(checks.config) && !checks.isRedacted) checkGradedText(row, places[i]!, out);
    checkMessages(row, places[i]!, out);
  }
  if (groups.length === 0) return;
  checkGroupTexts(groups, rows, names.trajectories, checks.language, out);
  await checks.checkEventLog?.(step, groups);
}

function checkGroupTexts(
  groups: readonly Group[],
  rows: readonly TrajectoryRow[],
  where: string,
  language: Language | null,
  out: Reporter,
): void {
  if (language === null) return;
  const indexed = rows.map((row, index) => ({ row, at: { where, row: index } }));
  const byQuestion = Map.groupBy(indexed, ({ row }) => row.questionIndex);
  for (const group of groups) {
    const own = byQuestion.get(group.question) ?? [];
    const ordered = own.toSorted((a, b) => a.row.groupIndex - b.row.groupIndex);
    checkTexts(
      language.protocol,
      group,
      ordered.map(({ row }) => row),
      ordered.map(({ at }) => at),
      out,
    );
  }
}

function readRows(path: string, name: string, out: Reporter): readonly TrajectoryRow[] | null {
  out.checked("readable");
  try {
    return [...readTrajectories(path).rows];
  } catch (error) {
    out.fail("readable", { where: name }, "an Arrow file of Interlace", messageOf(error));
    return null;
  }
}

async function readLedger(path: string, name: string, out: Reporter): Promise<Ledger | null> {
  out.checked("readable");
  try {
    return ledgerFromJson(await Bun.file(path).json());
  } catch (error) {
    out.fail("readable", { where: name }, "a ledger", messageOf(error));
    return null;
  }
}

/** null = damaged. A line's place is its step: what is read has no gap. */
function readMetricsLines(
  { folder }: FoundRun,
  out: Reporter,
): ReadonlyMap<number, Metrics> | null {
  out.checked("readable");
  try {
    const { lines, wholeBytes, bytes } = readMetrics(folder.metrics);
    if (wholeBytes < bytes) {
      out.fail("readable", { where: "metrics.jsonl" }, "whole lines", "a torn last line");
    }
    return new Map(lines.map((line) => [line.step, line]));
  } catch (error) {
    out.fail("readable", { where: "metrics.jsonl" }, "one line of JSON a step", messageOf(error));
    return null;
  }
}
