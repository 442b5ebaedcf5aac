/**
 * In: raw records of any reader. Out: problems, and each record that is none with its place and reason.
 * Refuses to know: files and formats. Nothing is dropped in silence: every record is in one of the lists.
 */
import { columnReader, isRecord } from "./column-path.ts";
import { countDuplicates, type DuplicateIds } from "./duplicate-ids.ts";
import { lastBoxed } from "./last-boxed.ts";
import { detectLayout, type ColumnMap } from "./layouts.ts";
import type { MathExample } from "./math-example.ts";
import type { RawRecord, RefusedRecord } from "./raw-record.ts";

export type ReadOptions = {
  /** Absent = the layout is told from the first record. */
  readonly columns?: ColumnMap;
  /** `data_source` of a data set that names none. Absent = the layout's name. */
  readonly dataSource?: string;
};

export type ReadProblems = {
  readonly problems: readonly MathExample[];
  readonly refused: readonly RefusedRecord[];
  /** Name of the detected layout; `columns` = the caller's map; null = there was no record. */
  readonly layout: string | null;
  readonly duplicateIds: DuplicateIds;
};

/** Reads one record; made for one data set by `problemReader`. */
export type ProblemReader = {
  readonly layout: string;
  read(record: RawRecord): MathExample | RefusedRecord;
};

/** Throws when the first record has no layout that we know: a column map is needed then. */
export function readProblems(
  records: Iterable<RawRecord>,
  options: ReadOptions = {},
): ReadProblems {
  const problems: MathExample[] = [];
  const refused: RefusedRecord[] = [];
  let reader: ProblemReader | null = null;
  for (const record of records) {
    reader ??= problemReader(record, options);
    const read = reader.read(record);
    if ("reason" in read) refused.push(read);
    else problems.push(read);
  }
  const duplicateIds = countDuplicates(problems);
  return { problems, refused, layout: reader?.layout ?? null, duplicateIds };
}

/** The reader for the data set whose first record this is. */
export function problemReader(first: RawRecord, options: ReadOptions = {}): ProblemReader {
  const found = options.columns
    ? { name: "columns", columns: options.columns }
    : detectLayout(first.value);
  if (found === null) throw new Error(unknownLayout(first));
  return {
    layout: found.name,
    read: recordReader(found.columns, options.dataSource ?? found.name),
  };
}

function unknownLayout({ place, value }: RawRecord): string {
  const seen = isRecord(value) ? `columns ${Object.keys(value).join(", ")}` : typeof value;
  return (
    `Expected question and answer, problem and answer, problem and solution, or prompt and ` +
    `reward_model.ground_truth, got ${seen} in ${place.unit} ${place.number}; name the columns`
  );
}

function recordReader(columns: ColumnMap, fallbackSource: string): ProblemReader["read"] {
  const question = columnReader(columns.question);
  const answer = columnReader(columns.answer);
  const id = columns.id === null ? null : columnReader(columns.id);
  const source = columns.dataSource === null ? null : columnReader(columns.dataSource);

  return ({ place, value }) => {
    const refuse = (part: RefusedRecord["part"], what: string, path: string, seen: unknown) => {
      return { place, part, reason: `Expected ${what} in ${path}, got ${describe(seen)}` };
    };
    if (!isRecord(value)) {
      return { place, part: "record", reason: `Expected an object, got ${describe(value)}` };
    }
    const asked = textOf(question(value));
    if (asked === null || asked.trim() === "") {
      return refuse("question", "a question", columns.question, question(value));
    }
    const expected = answerOf(answer(value), columns.answerForm);
    if (expected === null || expected.trim() === "") {
      return refuse("answer", ANSWER_NAMES[columns.answerForm], columns.answer, answer(value));
    }
    const name = id === null ? String(place.number) : textOf(id(value));
    if (name === null || name === "") {
      return refuse("id", "an id", columns.id ?? "id", id?.(value));
    }
    const dataSource = textOf(source?.(value)) || fallbackSource;
    return Object.freeze({ id: name, question: asked, answer: expected, dataSource });
  };
}

const ANSWER_NAMES: Readonly<Record<ColumnMap["answerForm"], string>> = {
  plain: "an answer",
  hashes: "an answer behind ####",
  boxed: "an answer in \\boxed{}",
};

/** A list means its first element. */
function answerOf(value: unknown, form: ColumnMap["answerForm"]): string | null {
  const text = textOf(Array.isArray(value) ? value[0] : value);
  if (text === null || form === "plain") return text;
  if (form === "boxed") return lastBoxed(text);
  const hashes = text.lastIndexOf("####");
  return hashes === -1 ? null : text.slice(hashes + 4).trim();
}

/** Text of a text or a number (0 is one); null = something else, or nothing. */
function textOf(value: unknown): string | null {
  if (typeof value === "string") return value;
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "number" || !Number.isFinite(value)) return null;
  return Number.isInteger(value) ? String(BigInt(value)) : String(value);
}

function describe(value: unknown): string {
  if (value === undefined || value === null) return "nothing";
  if (typeof value === "string") return JSON.stringify(value.slice(0, 40));
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  return typeof value === "object" ? "an object" : `${value as number | boolean}`;
}
