/**
 * The work of `interlace replay`: the same run from its recording, with no server and no Python. Unchanged, it says
 * whether the files come out byte for byte; with other settings, where the recording ends.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { ledgerFromJson, SCHEDULES, type Grader, type Group, type Metrics } from "@interlace/core";
import type { RunFacts } from "@interlace/train-bridge";
import type { ReplayFlags } from "../commands/replay.ts";
import type { Config } from "../config/schema.ts";
import { workFailed, wrongUse, type PersonError } from "../person-error.ts";
import { exportStep } from "../rollout/export-step.ts";
import { redactWork } from "../redact/redact-work.ts";
import { openGrader } from "../rollout/open-grader.ts";
import type { Language } from "../rollout/open-language.ts";
import { runFacts } from "../rollout/run-facts.ts";
import { readMetrics } from "../run-folder/metrics-file.ts";
import { findRun, listSteps, type FoundRun } from "../run-folder/find-run.ts";
import { stepFolderOf, type StepFolder } from "../run-folder/run-folder.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { changeConfig, type ConfigChange } from "./change-config.ts";
import {
  openRecording,
  recordedConfig,
  recordedLanguage,
  recordedTokenizer,
  type RecordedStep,
} from "./open-recording.ts";
import { throwExplained } from "../event-log/other-prompt.ts";
import { printReplay, type ReplayedStep } from "./print-replay.ts";
import { replayStep, type Replay } from "./replay-step.ts";

export async function replayWork(
  terminal: Terminal,
  flags: ReplayFlags,
  name: string,
): Promise<0 | 1> {
  const run = await findRun(name, flags.runs);
  if (flags.redact !== undefined) {
    return await redactWork(run, flags.redact, flags.json === true, terminal);
  }
  if (run.record.redacted) {
    throw wrongUse(`${run.folder.path} is a redacted copy: its answers cannot be stepped again`);
  }
  const recorded = await recordedConfig(run);
  const { config, changes } = await changeConfig(recorded, flags);
  const tokenizer = await recordedTokenizer(run, recorded, flags.tokenizer);
  if (tokenizer === null) {
    throw wrongUse("This run's tokenizer was a server's: name its folder with --tokenizer");
  }
  const language = await recordedLanguage(run, config, tokenizer);
  const recording = await openRecording(run, config, language);
  await using stack = new AsyncDisposableStack();
  const grader =
    flags.grader === undefined
      ? undefined
      : stack.use(openGrader(config, (line) => terminal.note(`interlace: ${line}`), null)).grader;
  const target = openTarget(run, flags.out, stack);
  const steps: ReplayedStep[] = [];
  const exported = readMetrics(run.folder.metrics).lines.map(({ step }) => step);
  const indices = new Set([...listSteps(run.folder), ...exported]);
  for (const index of [...indices].toSorted((a, b) => a - b)) {
    const step = await recording.step(index);
    const replay = await replayRecorded(step, run, config, grader).catch((error: unknown) =>
      throwExplained(error, (reason) =>
        otherPrompt(recording.logOf(index), reason, changes, error),
      ),
    );
    const files = stepFolderOf(target, index);
    const source = stepFolderOf(run.folder, index);
    const isExported = existsSync(source.datums);
    const written =
      replay.missing.length > 0
        ? null
        : await writeStep({ run, config, language, step, replay, source, files });
    // Changed settings are meant to change the files; an open step has none yet.
    const isComparable = written !== null && isExported && changes.length === 0;
    steps.push({
      step: index,
      groups: replay.groups.length,
      missing: replay.missing,
      metrics: written,
      differing: isComparable ? await compareFiles(source, files) : null,
    });
  }
  printReplay({ run, steps, changes, out: flags.out ?? null }, flags.json === true, terminal);
  // A step that was exported was complete: unchanged, its recording must give all of it again.
  const isBroken = ({ step, missing, differing }: ReplayedStep) =>
    (differing?.length ?? 0) > 0 ||
    (missing.length > 0 && changes.length === 0 && exported.includes(step));
  return steps.some(isBroken) ? 1 : 0;
}

function replayRecorded(
  step: RecordedStep,
  run: FoundRun,
  config: Config,
  grader: Grader | undefined,
): Promise<Replay> {
  return replayStep(step, {
    vocabSize: Number(run.record.sampler["vocab_size"]),
    schedule: SCHEDULES[config.run.schedule],
    ...(grader === undefined ? {} : { grader }),
  });
}

/** A changed setting that changes what the model is asked leaves no answer to replay. */
function otherPrompt(
  log: string,
  reason: string,
  changes: readonly ConfigChange[],
  cause: unknown,
): PersonError {
  if (changes.length === 0) {
    return workFailed(`${log} is not the recording of this run's prompts: ${reason}`, cause);
  }
  const names = changes.map(({ name }) => name).join(", ");
  return wrongUse(
    `${log} cannot be replayed with another ${names}: ${reason}; leave out what changes a prompt, or start a new run`,
    cause,
  );
}

type WriteInput = {
  readonly run: FoundRun;
  readonly config: Config;
  readonly language: Language;
  readonly step: RecordedStep;
  readonly replay: { readonly groups: readonly Group[] };
  readonly source: StepFolder;
  readonly files: StepFolder;
};

async function writeStep(input: WriteInput): Promise<Metrics> {
  const { run, config, language, step, replay, source, files } = input;
  const { record } = run;
  mkdirSync(files.path, { recursive: true });
  const identity = {
    logprobKind: record.sampler["logprob_kind"] as RunFacts["logprobKind"],
    vocabSize: Number(record.sampler["vocab_size"]),
  };
  const exported = await exportStep(files, {
    config,
    groups: replay.groups,
    context: {
      runId: record.run_id,
      step: step.plan.step,
      sampler: textOf(record.sampler["kind"]),
      model: textOf(record.sampler["model"]),
      facts: runFacts(config, language, identity, record.config_hash),
    },
    trajectories: { protocol: language.protocol, firstMessages: language.firstMessages },
    times: step.log.times,
    // Only the ports saw their retries; what they counted is kept.
    retries: await recordedRetries(source),
  });
  return exported.metrics;
}

async function recordedRetries({ ledger }: StepFolder): Promise<Readonly<Record<string, number>>> {
  if (!existsSync(ledger)) return {};
  return ledgerFromJson(await Bun.file(ledger).json()).retries;
}

async function compareFiles(source: StepFolder, replayed: StepFolder): Promise<readonly string[]> {
  const differing: string[] = [];
  for (const name of ["datums", "trajectories", "ledger"] as const) {
    const [a, b] = [Bun.file(source[name]), Bun.file(replayed[name])];
    const isSame = (await a.exists()) && Bun.deepEquals(await a.bytes(), await b.bytes());
    if (!isSame) differing.push(basename(source[name]));
  }
  return differing;
}

/** A folder of the person's, or one that goes when the comparison is done. */
function openTarget(run: FoundRun, out: string | undefined, stack: AsyncDisposableStack) {
  if (out !== undefined) {
    if (existsSync(out)) throw workFailed(`${out} is there already: name a folder that is not`);
    mkdirSync(out, { recursive: true });
    return { ...run.folder, path: out };
  }
  const path = mkdtempSync(join(tmpdir(), "interlace-replay-"));
  stack.defer(() => rmSync(path, { recursive: true, force: true }));
  return { ...run.folder, path };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
