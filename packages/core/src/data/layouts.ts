/**
 * In: one record of a data set. Out: which columns hold the problem, by the layouts that are well known.
 * Refuses to know: every other record; the first one speaks for the file.
 */
import { isRecord, readColumn } from "./column-path.ts";

/** Where a problem's parts lie in a record: column paths. */
export type ColumnMap = {
  /** null = the data set has none; the record's place serves. */
  readonly id: string | null;
  /** A text, or a list of messages of which one is the user's. */
  readonly question: string;
  readonly answer: string;
  /** null = none; the caller's name for the data set serves. */
  readonly dataSource: string | null;
  /** What of the answer's column is the answer: all of it, what follows the last `####`, the last `\boxed{}`. */
  readonly answerForm: "plain" | "hashes" | "boxed";
};

export type Layout = {
  readonly name: string;
  readonly columns: ColumnMap;
  /** Whether an answer may be a list of spellings, of which the first counts; elsewhere a list is no answer. */
  readonly takesFirstAnswer: boolean;
};

/** Column names are matched whatever their case; null = no layout that we know. */
export function detectLayout(record: unknown): Layout | null {
  if (!isRecord(record)) return null;
  const names = new Map(Object.keys(record).map((name) => [name.toLowerCase(), name]));
  const own = (...wanted: readonly string[]): string | null =>
    wanted.map((name) => names.get(name)).find((name) => name !== undefined) ?? null;

  const dataSource = own("data_source");
  const id = own("id", "unique_id");
  const answer = own("answer");
  const question = own("question");
  const problem = own("problem");
  const solution = own("solution");

  const dapo = { question: "prompt", answer: "reward_model.ground_truth" };
  if (Array.isArray(record[dapo.question]) && present(record, dapo.answer)) {
    const index = present(record, "extra_info.index") ? "extra_info.index" : id;
    return { ...layout("dapo", { ...dapo, id: index, dataSource }), takesFirstAnswer: true };
  }
  if (question !== null && answer !== null) {
    const hashes = id === null && String(record[answer]).includes("####");
    if (hashes) return layout("gsm8k", { id, question, answer, dataSource }, "hashes");
    return layout("interlace", { id, question, answer, dataSource });
  }
  if (problem !== null && answer !== null) {
    const name = own("level", "subject") === null ? "aime" : "math";
    return layout(name, { id, question: problem, answer, dataSource });
  }
  if (problem !== null && solution !== null) {
    return layout("math", { id, question: problem, answer: solution, dataSource }, "boxed");
  }
  return null;
}

function layout(
  name: string,
  columns: Omit<ColumnMap, "answerForm">,
  answerForm: ColumnMap["answerForm"] = "plain",
): Layout {
  return { name, columns: { ...columns, answerForm }, takesFirstAnswer: false };
}

function present(record: unknown, path: string): boolean {
  const value = readColumn(record, path);
  return value !== undefined && value !== null;
}
