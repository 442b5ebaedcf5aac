/**
 * In: a run folder, and settings to change. Out: everything that its steps need to be stepped again from their
 * logs: configuration, language, problems. Opens no server and no sandbox.
 */
import type { MathExample, Plan } from "@interlace/core";
import type { ConfigSources } from "../config/resolve.ts";
import type { Config } from "../config/schema.ts";
import { readEventLog, type RecordedLog } from "../event-log/read-event-log.ts";
import { openLanguage, type Language } from "../rollout/open-language.ts";
import { openProblems } from "../rollout/open-problems.ts";
import { openTokenizer, type TokenizerSource } from "../rollout/open-tokenizer.ts";
import { carriedInto, findSelected } from "../rollout/carried-groups.ts";
import { PROBLEMS_MET, stepProblems } from "../rollout/step-problems.ts";
import { readMetrics } from "../run-folder/metrics-file.ts";
import { settleConfig } from "../rollout/settle-config.ts";
import type { FoundRun } from "../run-folder/find-run.ts";
import { stepFolderOf } from "../run-folder/run-folder.ts";

export const NOTHING_CHANGED: ConfigSources = {
  flags: [],
  env: {},
  file: undefined,
  preset: undefined,
};

/** The configuration that a run was started with. */
export async function recordedConfig({ record }: FoundRun): Promise<Config> {
  return (await settleConfig(NOTHING_CHANGED, record)).config;
}

/** The run's tokenizer: as named, as recorded, or the built-in one; null = it was a server's. Throws when it is gone. */
export async function recordedTokenizer(
  { record }: FoundRun,
  config: Config,
  named: string | undefined,
): Promise<TokenizerSource | null> {
  const tokenizer = named ?? config.sampler.tokenizer;
  if (tokenizer === null && config.sampler.kind !== "embedded") return null;
  const sampler = { ...config.sampler, tokenizer };
  const source = await openTokenizer(
    { ...config, sampler },
    new AbortController().signal,
    () => {},
  );
  const id = record.tokenizer["id"];
  // Files call it as the run did, whatever the folder is called now.
  return typeof id === "string" ? { ...source, id } : source;
}

/** Templates that read the clock get the run's own day. */
export function recordedLanguage(
  { record }: FoundRun,
  config: Config,
  source: TokenizerSource,
): Promise<Language> {
  return openLanguage(config, source, new Date(record.template_clock).getTime());
}

export type RecordedStep = {
  readonly plan: Plan;
  /** question_index of each problem. */
  readonly questions: readonly number[];
  readonly problems: readonly MathExample[];
  readonly log: RecordedLog;
};

export type Recording = {
  readonly step: (index: number) => Promise<RecordedStep>;
  /** Where a step's log lies, whether it is there or not. */
  readonly logOf: (index: number) => string;
};

/** Throws a PersonError when the data file is not the one that the run saw. */
export async function openRecording(
  run: FoundRun,
  config: Config,
  language: Language,
): Promise<Recording> {
  const data = await openProblems(config);
  const recorded = run.record.input_hashes["data"];
  if (data.hash !== recorded) {
    throw new Error(
      `${data.source} has changed since the run was started (SHA-256 ${recorded?.slice(0, 12)}, now ${data.hash.slice(0, 12)})`,
    );
  }
  const metrics = readMetrics(run.folder.metrics).lines;
  /** Which of a step's questions are complete groups, and their problems. */
  const questionsOf = async (index: number, log: RecordedLog) => {
    const { positions } = await carriedInto(run.folder, config, index);
    const { first, at } = stepProblems(data.problems, config, metrics, index, positions);
    if (!config.dynamicSampling.enabled) return { questions: first.map((_, i) => i), at };
    const selected = findSelected(log.marks);
    if (selected !== null) return { questions: selected.questions, at };
    // Without over-sampling it met as many as its line says; an open step, those that were answered.
    const last = log.events.reduce((most, { key }) => Math.max(most, key.question), 0);
    const count = metrics[index]?.[PROBLEMS_MET] ?? last + 1;
    return { questions: Array.from({ length: count }, (_, i) => i), at };
  };
  const logOf = (index: number): string => stepFolderOf(run.folder, index).events;
  return {
    logOf,
    async step(index) {
      const log = await readEventLog(logOf(index));
      const { questions, at } = await questionsOf(index, log);
      return {
        plan: { config: config.rollout, protocol: language.protocol, step: index },
        questions,
        problems: questions.map(at),
        log,
      };
    },
  };
}
