/**
 * In: raw records of a published data set. Out: training and held-out problems, and what became of the rest.
 * Refuses to know: files. The published DAPO file holds each problem about a hundred times; doubles go
 * before the split, or held-out problems would be trained on.
 */
import { countDuplicates, type DuplicateIds } from "./duplicate-ids.ts";
import type { MathExample } from "./math-example.ts";
import { formatRefusal, type RawRecord, type RefusedRecord } from "./raw-record.ts";
import { problemReader, type ProblemReader, type ReadOptions } from "./read-problems.ts";
import { shuffle, type ShuffleName } from "./shuffle.ts";

const DAPO_PREFIX =
  "Solve the following math problem step by step. The last line of your response should be of the form " +
  "Answer: $Answer (without quotes) where $Answer is the answer to the problem.\n\n";
const DAPO_SUFFIX = '\n\nRemember to put your answer on its own line after "Answer:".';

export type PrepareOptions = ReadOptions & {
  readonly seed?: number;
  readonly shuffle?: ShuffleName;
  /** Problems held out: the first ones after the shuffle. */
  readonly devSize?: number;
};

export type Prepared = {
  readonly train: readonly MathExample[];
  readonly dev: readonly MathExample[];
  readonly stats: PrepareStats;
};

/** `rows = dropped.question + dropped.answer + dropped.other + duplicates + problems`. */
export type PrepareStats = {
  readonly rows: number;
  readonly dropped: Dropped;
  /** The first row that could not be read, and why; null = all could. */
  readonly firstRefused: RefusedRecord | null;
  /** Rows whose question came with a system message of its own, which is not kept. */
  readonly systemMessages: number;
  /** Rows whose question and answer had been seen. */
  readonly duplicates: number;
  /** Distinct problems: `train + dev`. */
  readonly problems: number;
  readonly duplicateIds: DuplicateIds;
  /** Code points of the answers. */
  readonly answerLength: { readonly min: number; readonly median: number; readonly max: number };
  /** The first training problem. */
  readonly sample: MathExample;
};

/** Rows without a question, without an answer, and those that are no record or lack an id. */
export type Dropped = {
  readonly question: number;
  readonly answer: number;
  readonly other: number;
};

/** Takes records one by one, so that a large file never lies in memory whole. */
export type Preparation = { add(record: RawRecord): void; finish(): Prepared };

/** `finish` throws when nothing is left to train on. */
export function startPreparation(options: PrepareOptions = {}): Preparation {
  const { seed = 42, shuffle: generator = "python", devSize = 50 } = options;
  const distinct = new Map<string, MathExample>();
  const dropped = { question: 0, answer: 0, other: 0 };
  let reader: ProblemReader | null = null;
  let firstRefused: RefusedRecord | null = null;
  let rows = 0;
  let duplicates = 0;

  return {
    add(record) {
      rows++;
      reader ??= problemReader(record, options);
      const read = reader.read(record);
      if ("reason" in read) {
        firstRefused ??= read;
        dropped[read.part === "question" || read.part === "answer" ? read.part : "other"]++;
        return;
      }
      const problem = {
        ...read,
        question: stripTemplate(read.question),
        answer: read.answer.trim(),
      };
      if (problem.question === "") {
        dropped.question++;
        return;
      }
      const key = JSON.stringify([problem.question, problem.answer]);
      if (distinct.has(key)) duplicates++;
      else distinct.set(key, Object.freeze(problem));
    },
    finish() {
      const order = shuffle([...distinct.values()], seed, generator);
      const dev = order.slice(0, devSize);
      const train = order.slice(devSize);
      const [sample] = train;
      if (sample === undefined) {
        throw new Error(nothingLeft(rows, order.length, devSize, firstRefused));
      }
      const stats = {
        rows,
        dropped: { ...dropped },
        firstRefused,
        systemMessages: reader?.systemMessages() ?? 0,
        duplicates,
        problems: order.length,
        duplicateIds: countDuplicates(order),
        answerLength: spread(order.map(({ answer }) => [...answer].length)),
        sample,
      };
      return { train, dev, stats };
    },
  };
}

export function prepareProblems(
  records: Iterable<RawRecord>,
  options: PrepareOptions = {},
): Prepared {
  const preparation = startPreparation(options);
  for (const record of records) preparation.add(record);
  return preparation.finish();
}

/** DAPO's outer template goes, prefix and suffix each on its own; what is left is trimmed. */
export function stripTemplate(question: string): string {
  const start = question.startsWith(DAPO_PREFIX) ? DAPO_PREFIX.length : 0;
  const inner = question.slice(start);
  const end = inner.endsWith(DAPO_SUFFIX) ? inner.length - DAPO_SUFFIX.length : inner.length;
  return inner.slice(0, end).trim();
}

function nothingLeft(
  rows: number,
  problems: number,
  devSize: number,
  refused: RefusedRecord | null,
): string {
  const why = refused === null ? "" : `; the first row dropped is ${formatRefusal(refused)}`;
  return (
    `Expected more than ${devSize} distinct problems (the size of the dev set), got ${problems} ` +
    `from ${rows} rows; give more rows, a smaller dev set, or other columns${why}`
  );
}

function spread(lengths: readonly number[]): PrepareStats["answerLength"] {
  const sorted = lengths.toSorted((a, b) => a - b);
  const at = (index: number): number => sorted[index] ?? 0;
  const half = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? at(half) : (at(half - 1) + at(half)) / 2;
  return { min: at(0), median, max: at(sorted.length - 1) };
}
