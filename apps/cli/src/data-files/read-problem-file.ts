/**
 * In: a problem file and its column map. Out: problems, every one of them: a record that is none refuses the
 * file, with line and reason, before any work.
 */
import {
  formatRefusal,
  readProblems,
  type ColumnMap,
  type DuplicateIds,
  type MathExample,
  type RawRecord,
} from "@interlace/core";
import type { Config } from "../config/schema.ts";
import { messageOf, PersonError, wrongUse } from "../person-error.ts";
import { formatCount } from "../terminal/format.ts";
import { cannotRead, readRecords, type FileRecords } from "./read-records.ts";

export type ProblemFile = {
  readonly problems: readonly MathExample[];
  readonly blankLines: number;
  readonly duplicateIds: DuplicateIds;
  /** What was read and is not used, one line each; for people. */
  readonly notes: readonly string[];
};

const SHOWN = 5;

export async function readProblemFile(
  path: string,
  columns: ColumnMap | null,
): Promise<ProblemFile> {
  const file = await readRecords(path);
  const records = await collectRecords(path, file);
  const options = columns === null ? {} : { columns };
  let read: ReturnType<typeof readProblems>;
  try {
    read = readProblems(records, options);
  } catch (error) {
    throw wrongUse(`${path}: ${messageOf(error)}`, error);
  }
  const refused = [...file.refused, ...read.refused].sort(
    (a, b) => a.place.number - b.place.number,
  );
  if (refused.length > 0) {
    const shown = refused.slice(0, SHOWN).map((each) => `${path}, ${formatRefusal(each)}`);
    const more = refused.length > SHOWN ? [`… and ${refused.length - SHOWN} more`] : [];
    throw wrongUse([...shown, ...more].join("\n"));
  }
  if (read.problems.length === 0) throw wrongUse(`${path} holds no problem`);
  const { problems, duplicateIds, systemMessages } = read;
  const notes = systemMessages === 0 ? [] : [`${path}: ${unusedSystemMessages(systemMessages)}`];
  return { problems, blankLines: file.blankLines, duplicateIds, notes };
}

export function unusedSystemMessages(rows: number): string {
  const own =
    rows === 1
      ? "row carries a system message of its own"
      : "rows carry a system message of their own";
  return `${formatCount(rows)} ${own}, which is not used; protocol.system_prompt sets the run's`;
}

/** null = the columns are told from the first record. */
export function columnMapOf(columns: Config["data"]["columns"]): ColumnMap | null {
  const { question, answer, id, dataSource, answerForm } = columns;
  const named = [question, answer, id, dataSource].filter((column) => column !== null);
  if (named.length === 0 && answerForm === "plain") return null;
  if (question === null || answer === null) {
    throw wrongUse("A column map needs both question and answer, when it names any column");
  }
  return { question, answer, id, dataSource, answerForm };
}

async function collectRecords(path: string, file: FileRecords): Promise<readonly RawRecord[]> {
  const records: RawRecord[] = [];
  try {
    for await (const record of file.records) records.push(record);
  } catch (error) {
    throw error instanceof PersonError ? error : cannotRead(path, error);
  }
  return records;
}
