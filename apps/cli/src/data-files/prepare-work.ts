/** The work of `data prepare`. In: a raw file. Out: `train.jsonl`, `dev.jsonl`, and what became of every row. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import {
  formatProblemLine,
  formatRefusal,
  startPreparation,
  type MathExample,
  type Prepared,
  type RawRecord,
} from "@interlace/core";
import { writeAtomic } from "@interlace/train-bridge";
import type { DataPrepareFlags } from "../commands/data-prepare.ts";
import { messageOf, PersonError, workFailed, wrongUse } from "../person-error.ts";
import { formatCount, formatPlural } from "../terminal/format.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { parseColumnFlags } from "./column-flags.ts";
import { cannotRead, readRecords } from "./read-records.ts";
import { columnMapOf, unusedSystemMessages } from "./read-problem-file.ts";

export async function prepareWork(
  terminal: Terminal,
  flags: DataPrepareFlags,
  file: string,
): Promise<0> {
  const source = await readRecords(file);
  const [refused] = source.refused;
  if (refused !== undefined) throw wrongUse(`${file}, ${formatRefusal(refused)}`);
  const prepared = await prepare(file, source.records, flags);
  const paths = { train: join(flags.out, "train.jsonl"), dev: join(flags.out, "dev.jsonl") };
  await makeFolder(flags.out);
  await writeProblems(paths.dev, prepared.dev);
  await writeProblems(paths.train, prepared.train);
  const { firstRefused, systemMessages } = prepared.stats;
  if (firstRefused !== null)
    terminal.note(`${file}: first dropped: ${formatRefusal(firstRefused)}`);
  if (systemMessages > 0) terminal.note(`${file}: ${unusedSystemMessages(systemMessages)}`);
  if (flags.json === true) {
    const { train, dev, stats } = prepared;
    terminal.out(
      JSON.stringify({
        ...paths,
        ...statsToJson(stats),
        train_size: train.length,
        dev_size: dev.length,
      }),
    );
  } else for (const line of describe(file, paths, prepared)) terminal.out(line);
  return 0;
}

async function prepare(
  file: string,
  records: Awaited<ReturnType<typeof readRecords>>["records"],
  flags: DataPrepareFlags,
): Promise<Prepared> {
  const named = parseColumnFlags(flags.columns ?? []);
  const columns = columnMapOf({
    question: named.get("question") ?? null,
    answer: named.get("answer") ?? null,
    id: named.get("id") ?? null,
    dataSource: named.get("data_source") ?? null,
    answerForm: answerFormOf(named.get("answer_form")),
  });
  const { seed, shuffle, devSize } = flags;
  const preparation = startPreparation({
    seed,
    shuffle,
    devSize,
    ...(columns === null ? {} : { columns }),
  });
  // A file whose columns nobody knows can be read all the same.
  const add = (record: RawRecord): void => {
    try {
      preparation.add(record);
    } catch (error) {
      throw wrongUse(`${file}: ${messageOf(error)}`, error);
    }
  };
  try {
    for await (const record of records) add(record);
  } catch (error) {
    throw error instanceof PersonError ? error : cannotRead(file, error);
  }
  try {
    return preparation.finish();
  } catch (error) {
    throw wrongUse(`${file}: ${messageOf(error)}`, error);
  }
}

function answerFormOf(text = "plain"): "plain" | "hashes" | "boxed" {
  if (text === "plain" || text === "hashes" || text === "boxed") return text;
  throw wrongUse(`--columns: expected answer_form to be plain, hashes or boxed, seen ${text}`);
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
  } catch (error) {
    throw workFailed(`Cannot make the folder ${path}: ${messageOf(error)}`, error);
  }
}

async function writeProblems(path: string, problems: readonly MathExample[]): Promise<void> {
  const encoder = new TextEncoder();
  const lines = problems.map((problem) => encoder.encode(formatProblemLine(problem)));
  try {
    await writeAtomic(path, [lines]);
  } catch (error) {
    throw workFailed(messageOf(error), error);
  }
}

function statsToJson(stats: Prepared["stats"]): Record<string, unknown> {
  const { rows, dropped, duplicates, problems, duplicateIds, answerLength } = stats;
  return {
    rows,
    dropped,
    duplicates,
    problems,
    duplicate_ids: duplicateIds.ids,
    answer_length: answerLength,
  };
}

function describe(
  file: string,
  paths: { readonly train: string; readonly dev: string },
  { train, dev, stats }: Prepared,
): readonly string[] {
  const { dropped, answerLength, sample } = stats;
  return [
    `${file}: ${formatPlural(stats.rows, "row")} = ${formatPlural(stats.problems, "problem")} + ` +
      `${formatPlural(stats.duplicates, "double")} + ${formatCount(dropped.question)} without question + ` +
      `${formatCount(dropped.answer)} without answer + ${formatCount(dropped.other)} unreadable`,
    ...(stats.duplicateIds.ids === 0
      ? []
      : [`${formatPlural(stats.duplicateIds.ids, "id")} name more than one problem`]),
    `answers: ${answerLength.min} to ${answerLength.max} characters, median ${answerLength.median}`,
    `${paths.train}: ${formatPlural(train.length, "problem")}`,
    `${paths.dev}: ${formatPlural(dev.length, "problem")}, never to be trained on`,
    "",
    `sample ${sample.id} (${sample.dataSource})`,
    `  question  ${sample.question.replaceAll("\n", "\n            ")}`,
    `  answer    ${sample.answer}`,
    "",
    `Next: bun run rollout --data ${paths.train}`,
  ];
}
