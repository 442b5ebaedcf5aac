/** In: the data settings. Out: problems in the order in which batches take them, and where they came from. */
import { basename } from "node:path";
import {
  filterByLength,
  mixItems,
  shuffle,
  type MathExample,
  type MixturePart,
} from "@interlace/core";
import { embeddedProblemFiles } from "@interlace/sampler-clients";
import type { Config } from "../config/schema.ts";
import { columnMapOf, readProblemFile } from "../data-files/read-problem-file.ts";
import { messageOf, wrongUse } from "../person-error.ts";
import { formatCounts, formatPlural } from "../terminal/format.ts";

export type OpenedProblems = {
  readonly problems: readonly MathExample[];
  /** For people: a file, or that it is the built-in set. */
  readonly source: string;
  /** Hex SHA-256 of the file, or of a mixture's parts and shares. */
  readonly hash: string;
  readonly isBuiltIn: boolean;
  readonly notes: readonly string[];
};

/** Nothing names a file. */
export function isBuiltInData({ path, mixture }: Config["data"]): boolean {
  return path === null && mixture.length === 0;
}

/** Throws a PersonError on a file that is none, and when nothing is left to roll out. */
export async function openProblems({ data, rollout }: Config): Promise<OpenedProblems> {
  const { mixture, shuffle: order } = data;
  if (data.path !== null && mixture.length > 0) {
    throw wrongUse(
      "data.path and data.mixture are both set: name the file as one of the mixture's parts",
    );
  }
  const files =
    mixture.length > 0 ? mixture : [{ path: data.path ?? embeddedProblemFiles.train, weight: 1 }];
  const read = await Promise.all(files.map(({ path }) => openFile(path, data)));
  const parts = read.map(({ problems }, i) => ({
    items: order === "none" ? problems : shuffle(problems, rollout.seed, order),
    weight: files[i]?.weight ?? 1,
  }));
  return {
    problems: mixture.length > 0 ? mixParts(parts) : (parts[0]?.items ?? []),
    source: describeSource(data, files),
    hash: mixture.length > 0 ? hashMixture(read, files) : (read[0]?.hash ?? ""),
    isBuiltIn: isBuiltInData(data),
    notes: read.flatMap(({ notes }) => notes),
  };
}

type Files = readonly { readonly path: string; readonly weight: number }[];

type OpenedFile = {
  readonly problems: readonly MathExample[];
  readonly hash: string;
  readonly notes: readonly string[];
};

/** One file, filtered and cut, in its own order. */
async function openFile(path: string, data: Config["data"]): Promise<OpenedFile> {
  const read = await readProblemFile(path, columnMapOf(data.columns));
  const notes: string[] = [...read.notes];
  if (read.blankLines > 0)
    notes.push(`${path}: ${formatPlural(read.blankLines, "blank line")} skipped`);
  if (read.duplicateIds.ids > 0) {
    const [example] = read.duplicateIds.examples;
    notes.push(
      `${path}: ${formatPlural(read.duplicateIds.ids, "id")} used more than once, ${example?.id} for one`,
    );
  }
  const filtered = filterByLength(read.problems, {
    minQuestion: data.minQuestionCharacters,
    maxQuestion: data.maxQuestionCharacters,
    maxAnswer: data.maxAnswerCharacters,
  });
  const { problems, tooShort, tooLong, answerTooLong } = filtered;
  if (problems.length < read.problems.length) {
    const reasons = {
      short_question: tooShort,
      long_question: tooLong,
      long_answer: answerTooLong,
    };
    const counts = Object.entries(reasons).filter(([, count]) => count > 0);
    const left = read.problems.length - problems.length;
    notes.push(
      `${path}: ${formatPlural(left, "problem")} left out by length: ${formatCounts(Object.fromEntries(counts))}`,
    );
  }
  if (problems.length === 0) {
    throw wrongUse(`${path}: no problem is left: all are outside the lengths that [data] allows`);
  }
  const hash = new Bun.CryptoHasher("sha256").update(await Bun.file(path).bytes()).digest("hex");
  const { maxSamples } = data;
  return { problems: maxSamples === 0 ? problems : problems.slice(0, maxSamples), hash, notes };
}

function mixParts(parts: readonly MixturePart<MathExample>[]): readonly MathExample[] {
  try {
    return mixItems(parts);
  } catch (error) {
    throw wrongUse(`data.mixture: ${messageOf(error)}`, error);
  }
}

/** Contents and shares; where the files lie decides nothing. */
function hashMixture(read: readonly OpenedFile[], files: Files): string {
  const parts = read.map(({ hash }, i) => [hash, files[i]?.weight ?? 1]);
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(parts)).digest("hex");
}

function describeSource(data: Config["data"], files: Files): string {
  if (isBuiltInData(data)) return `built-in arithmetic (${basename(embeddedProblemFiles.train)})`;
  if (data.mixture.length === 0) return files[0]?.path ?? "";
  return files.map(({ path, weight }) => `${weight} × ${path}`).join(" + ");
}
