/**
 * In: the text of a JSONL file, or problems. Out: records with line numbers, or lines.
 * Refuses to know: where the text came from, and what a record means.
 */
import type { MathExample } from "./math-example.ts";
import type { RawRecord, RefusedRecord } from "./raw-record.ts";

export type JsonlRecords = {
  readonly records: readonly RawRecord[];
  /** Lines that are no JSON. */
  readonly refused: readonly RefusedRecord[];
  /** Lines of white space only; they are no records. */
  readonly blankLines: number;
};

/** Split on `\n` only: U+2028 and `\r` may stand inside a string. Never throws. */
export function parseJsonl(text: string): JsonlRecords {
  const records: RawRecord[] = [];
  const refused: RefusedRecord[] = [];
  let blankLines = 0;
  let number = 0;
  for (const line of linesOf(text)) {
    const place = { unit: "line", number: ++number } as const;
    if (line.trim() === "") {
      blankLines++;
      continue;
    }
    try {
      records.push({ place, value: JSON.parse(line, keepNumbers) });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const reason = `Expected one JSON value, got ${excerpt(line)} (${why})`;
      refused.push({ place, part: "record", reason });
    }
  }
  return { records, refused, blankLines };
}

/** A problem as one line of our own layout, `\n` included. */
export function formatProblemLine(problem: MathExample): string {
  const { id, question, answer, dataSource } = problem;
  return `${JSON.stringify({ id, question, answer, data_source: dataSource })}\n`;
}

/** The text after the last `\n` is a line only when there is some. */
function* linesOf(text: string): Generator<string> {
  let start = text.startsWith("\uFEFF") ? 1 : 0;
  while (start < text.length) {
    const found = text.indexOf("\n", start);
    const end = found === -1 ? text.length : found;
    yield text.slice(start, end);
    start = end + 1;
  }
}

/**
 * Numbers become text anyway: one that JavaScript would print otherwise (`1.0`, an id of 20 digits)
 * stays as the file writes it. Exponents are excepted: `1e3` as an answer would not be a number.
 */
function keepNumbers(this: unknown, _key: string, value: unknown, context?: unknown): unknown {
  if (typeof value !== "number" || !hasSource(context)) return value;
  return /^-?\d+(?:\.\d+)?$/.test(context.source) && context.source !== String(value)
    ? context.source
    : value;
}

function hasSource(context: unknown): context is { readonly source: string } {
  return typeof context === "object" && context !== null && "source" in context;
}

function excerpt(line: string): string {
  return JSON.stringify(line.length > 60 ? `${line.slice(0, 60)}…` : line);
}
