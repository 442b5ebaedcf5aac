/**
 * In: raw records of any reader. Out: problems, and each record that is none with its place and reason.
 * Refuses to know: files and formats. Nothing is dropped in silence: every record is in one of the lists.
 */
import { findChatQuestion, type ChatQuestion } from "./chat-question.ts";
import { columnReader, isRecord } from "./column-path.ts";
import { countDuplicates, type DuplicateIds } from "./duplicate-ids.ts";
import { lastBoxed } from "./last-boxed.ts";
import { detectLayout, type ColumnMap, type Layout } from "./layouts.ts";
import type { MathExample } from "./math-example.ts";
import type { RawRecord, RefusedRecord } from "./raw-record.ts";
import { formatColumns, suggestColumns } from "./suggest-columns.ts";

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
  /** Records whose question came with a system message of its own. It is not used: a run has its own. */
  readonly systemMessages: number;
};

/** Reads one record; made for one data set by `problemReader`. */
export type ProblemReader = {
  readonly layout: string;
  read(record: RawRecord): MathExample | RefusedRecord;
  /** Records read so far whose question came with a system message of its own. */
  systemMessages(): number;
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
  return {
    problems,
    refused,
    layout: reader?.layout ?? null,
    duplicateIds,
    systemMessages: reader?.systemMessages() ?? 0,
  };
}

/** The reader for the data set whose first record this is. */
export function problemReader(first: RawRecord, options: ReadOptions = {}): ProblemReader {
  const found = options.columns
    ? { name: "columns", columns: options.columns, takesFirstAnswer: false }
    : detectLayout(first.value);
  if (found === null) throw new Error(unknownLayout(first));
  let systemMessages = 0;
  return {
    layout: found.name,
    read: recordReader(found, options.dataSource ?? found.name, () => systemMessages++),
    systemMessages: () => systemMessages,
  };
}

function unknownLayout({ place, value }: RawRecord): string {
  const seen = isRecord(value) ? `columns ${Object.keys(value).join(", ")}` : describe(value);
  const advice = isRecord(value)
    ? `name the columns: ${suggestColumns(value)}`
    : "write each problem as an object";
  return (
    `Expected question and answer, problem and answer, problem and solution, or prompt and ` +
    `reward_model.ground_truth, got ${seen} in ${place.unit} ${place.number}; ${advice}`
  );
}

function recordReader(
  { columns, takesFirstAnswer }: Layout,
  fallbackSource: string,
  onSystemMessage: () => void,
): ProblemReader["read"] {
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
    const prompt = question(value);
    const chat = Array.isArray(prompt) ? findChatQuestion(prompt) : null;
    if (chat?.at === null) return { place, part: "question", reason: notOneTurn(columns, chat) };
    const path = chat === null ? columns.question : `${columns.question}[${chat.at}].content`;
    const content = chat === null ? prompt : chat.content;
    const asked = textOf(content);
    if (asked === null || asked.trim() === "")
      return refuse("question", "a question", path, content);
    if (chat?.hasSystem === true) onSystemMessage();
    const given = answer(value);
    if (Array.isArray(given) && given.length > 0 && !takesFirstAnswer) {
      return { place, part: "answer", reason: severalAnswers(columns, given.length) };
    }
    const expected = answerOf(given, columns.answerForm);
    if (expected === null || expected.trim() === "") {
      return refuse("answer", ANSWER_NAMES[columns.answerForm], columns.answer, given);
    }
    const name = id === null ? String(place.number) : textOf(id(value));
    if (name === null || name === "") {
      return refuse("id", "an id", columns.id ?? "id", id?.(value));
    }
    const dataSource = textOf(source?.(value)) || fallbackSource;
    return Object.freeze({ id: name, question: asked, answer: expected, dataSource });
  };
}

/** Which message of several asks is not ours to choose. */
function notOneTurn(
  { question, answer, answerForm }: ColumnMap,
  { roles, lastUser }: ChatQuestion,
): string {
  const advice =
    lastUser === null
      ? "write the question as a message with role user"
      : `name the message that asks, as ${formatColumns(`${question}[${lastUser}].content`, answer, answerForm)}`;
  return `Expected one user message, and none but a system message beside it, in ${question}, got ${roles}; ${advice}`;
}

/** A list may hold spellings of one answer, or several answers, or what a model wrote: the caller knows. */
function severalAnswers({ question, answer, answerForm }: ColumnMap, count: number): string {
  const columns = formatColumns(question, `${answer}[0]`, answerForm);
  return `Expected one answer in ${answer}, got a list of ${count}; name the element that counts, as ${columns}`;
}

const ANSWER_NAMES: Readonly<Record<ColumnMap["answerForm"], string>> = {
  plain: "an answer",
  hashes: "an answer behind ####",
  boxed: "an answer in \\boxed{}",
};

/** A list means its first element; where the layout does not say so, it was refused before. */
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
