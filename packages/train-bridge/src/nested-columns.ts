/** Flat items → one struct column each: messages, spans, turns, tool calls, grades, failures. */
import type { Captured, ExecResult, Failure, Grade, ToolCall, Turn } from "@interlace/core";
import type { Data, Struct } from "apache-arrow";
import type { ColumnMemory } from "./column-memory.ts";
import {
  boolColumn,
  doubleColumn,
  intColumn,
  longColumn,
  nestedListColumn,
  structColumn,
  textColumn,
  timeColumn,
} from "./columns.ts";
import { FAILURE, GRADE, MESSAGE, SPAN, TOOL_CALL, TURN, USAGE, VERSION_SPAN } from "./schema.ts";

export type MessageRow = {
  readonly role: string;
  readonly content: string;
  /** Tool messages only. */
  readonly tool_call_id?: string;
  readonly name?: string;
};

export type SpanRow = { readonly kind: string; readonly start: number; readonly length: number };

export type TurnRow = {
  readonly turn: Turn;
  readonly text: string;
  readonly time: { readonly start: number; readonly end: number } | null;
};

export function messageColumn(rows: readonly MessageRow[], memory: ColumnMemory): Data<Struct> {
  return allPresent(MESSAGE, rows, [
    texts(rows, "messages.role", ({ role }) => role),
    texts(rows, "messages.content", ({ content }) => content, memory),
    texts(rows, "messages.tool_call_id", (row) => row.tool_call_id),
    texts(rows, "messages.name", ({ name }) => name),
  ]);
}

export function spanColumn(rows: readonly SpanRow[]): Data<Struct> {
  return allPresent(SPAN, rows, [
    texts(rows, "spans.kind", ({ kind }) => kind),
    intColumn(rows.map(({ start }) => start)),
    intColumn(rows.map(({ length }) => length)),
  ]);
}

export function turnColumn(rows: readonly TurnRow[], memory: ColumnMemory): Data<Struct> {
  const turns = rows.map(({ turn }) => turn);
  return allPresent(TURN, rows, [
    intColumn(turns.map(({ promptLength }) => promptLength)),
    intColumn(turns.map(({ length }) => length)),
    texts(rows, "turns.text", ({ text }) => text, memory),
    texts(turns, "turns.finish", ({ finish }) => finish),
    intColumn(turns.map(({ seed }) => seed)),
    nestedListColumn(
      turns.map(({ versions }) => versions),
      (spans) =>
        allPresent(VERSION_SPAN, spans, [
          texts(spans, "turns.versions.version", ({ version }) => version),
          intColumn(spans.map(({ start }) => start)),
          intColumn(spans.map(({ end }) => end)),
        ]),
    ),
    texts(turns, "turns.parsed", ({ parsed }) => parsed),
    texts(turns, "turns.invalid_cause", ({ invalidCause }) => invalidCause),
    boolColumn(turns.map(({ opensCall }) => opensCall)),
    boolColumn(turns.map(({ textMismatch }) => textMismatch)),
    timeColumn(rows.map(({ time }) => time?.start)),
    timeColumn(rows.map(({ time }) => time?.end)),
  ]);
}

/** A call of a broken sandbox has the status `sandbox_error` and nothing that a run would have left. */
export function toolCallColumn(calls: readonly ToolCall[], memory: ColumnMemory): Data<Struct> {
  const runs = calls.map(({ result }): ExecResult | null => (result.ok ? result : null));
  const usages = runs.map((run) => run?.usage);
  return allPresent(TOOL_CALL, calls, [
    texts(calls, "tool_calls.id", ({ id }) => id),
    intColumn(calls.map(({ turn }) => turn)),
    texts(calls, "tool_calls.code", ({ code }) => code, memory),
    texts(runs, "tool_calls.status", (run) => run?.status ?? "sandbox_error"),
    intColumn(runs.map((run) => run?.exitCode)),
    texts(runs, "tool_calls.signal", (run) => run?.signal),
    doubleColumn(runs.map((run) => run?.limit)),
    texts(runs, "tool_calls.stdout", (run) => run && showCaptured(run.stdout), memory),
    texts(runs, "tool_calls.stderr", (run) => run && showCaptured(run.stderr), memory),
    longColumn(runs.map((run) => run?.stdout.omittedBytes)),
    longColumn(runs.map((run) => run?.stderr.omittedBytes)),
    texts(calls, "tool_calls.content", ({ content }) => content, memory),
    boolColumn(calls.map(({ truncated }) => truncated)),
    structColumn(
      USAGE,
      [
        doubleColumn(usages.map((usage) => usage?.queuedSeconds)),
        doubleColumn(usages.map((usage) => usage?.wallSeconds)),
        doubleColumn(usages.map((usage) => usage?.cpuSeconds)),
        longColumn(usages.map((usage) => usage?.peakMemoryBytes)),
      ],
      usages.map((usage) => usage !== undefined),
    ),
  ]);
}

export function gradeColumn(grades: readonly Grade[]): Data<Struct> {
  return allPresent(GRADE, grades, [
    texts(grades, "grade.kind", ({ kind }) => kind),
    texts(grades, "grade.answer", (grade) => ("answer" in grade ? grade.answer : null)),
    texts(grades, "grade.by", (grade) => ("by" in grade ? grade.by : null)),
    texts(grades, "grade.reason", (grade) => ("reason" in grade ? grade.reason : null)),
    texts(grades, "grade.detail", (grade) => ("detail" in grade ? grade.detail : null)),
  ]);
}

/** The whole struct is null where nothing failed. */
export function failureColumn(failures: readonly (Failure | null)[]): Data<Struct> {
  return structColumn(
    FAILURE,
    [
      texts(failures, "failure.boundary", (failure) => failure?.boundary),
      texts(failures, "failure.cause", (failure) => failure?.cause),
      texts(failures, "failure.detail", (failure) => failure?.detail),
    ],
    failures.map((failure) => failure !== null),
  );
}

/** One text of what was kept; the bytes that are missing in its middle stand in a column of their own. */
function showCaptured({ head, tail, omittedBytes }: Captured): string {
  return omittedBytes === 0 ? head : `${head}\n[... ${omittedBytes} bytes omitted ...]\n${tail}`;
}

function texts<T>(
  rows: readonly T[],
  name: string,
  read: (row: T) => string | null | undefined,
  memory?: ColumnMemory,
): Data {
  return textColumn(rows.map(read), name, memory);
}

function allPresent(
  type: Struct,
  rows: readonly unknown[],
  children: readonly Data[],
): Data<Struct> {
  return structColumn(
    type,
    children,
    rows.map(() => true),
  );
}
