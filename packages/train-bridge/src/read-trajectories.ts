/** `trajectories.arrow` back as records, for `verify`, `view` and re-scoring; token columns are views of the file. */
import type { TableMetadata } from "./metadata.ts";
import type { SpanRow } from "./nested-columns.ts";
import { openTable, type TableSource } from "./read-table.ts";
import { readRow, type RowReader } from "./row-reader.ts";

export type ReadMessage = {
  readonly role: string;
  readonly content: string;
  readonly tool_call_id: string | null;
  readonly name: string | null;
};

export type ReadTurn = {
  readonly prompt_length: number;
  readonly length: number;
  readonly text: string;
  readonly finish: string;
  readonly seed: number;
  readonly versions: readonly {
    readonly version: string | null;
    readonly start: number;
    readonly end: number;
  }[];
  readonly parsed: string | null;
  readonly invalid_cause: string | null;
  readonly opens_call: boolean;
  readonly text_mismatch: boolean;
  /** Milliseconds since 1970, with a fraction; null = not known. */
  readonly start_time: number | null;
  readonly end_time: number | null;
};

export type ReadToolCall = {
  readonly id: string;
  readonly turn: number;
  readonly code: string;
  readonly status: string;
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly limit: number | null;
  readonly stdout: string | null;
  readonly stderr: string | null;
  readonly stdout_omitted_bytes: number | null;
  readonly stderr_omitted_bytes: number | null;
  readonly content: string | null;
  readonly truncated: boolean;
  readonly usage: {
    readonly queued_seconds: number;
    readonly wall_seconds: number;
    readonly cpu_seconds: number | null;
    readonly peak_memory_bytes: number | null;
  } | null;
};

export type ReadGrade = {
  readonly kind: string;
  readonly answer: string | null;
  readonly by: string | null;
  readonly reason: string | null;
  readonly detail: string | null;
};

export type ReadFailure = {
  readonly boundary: string;
  readonly cause: string;
  readonly detail: string;
};

/** Nested records keep the names of the file. */
export type TrajectoryRow = {
  readonly runId: string;
  readonly step: number;
  readonly questionIndex: number;
  readonly groupIndex: number;
  readonly problemId: string;
  readonly dataSource: string;
  /** These four: null = unscored. */
  readonly reward: number | null;
  readonly correct: boolean | null;
  readonly validFormat: boolean | null;
  readonly advantage: number | null;
  readonly finalAnswer: string | null;
  readonly termination: string;
  readonly codeCalls: number;
  readonly noDatum: string | null;
  readonly messages: readonly ReadMessage[];
  readonly tokens: Int32Array;
  readonly spans: readonly SpanRow[];
  readonly logprobs: Float32Array;
  readonly turns: readonly ReadTurn[];
  readonly toolCalls: readonly ReadToolCall[];
  readonly grade: ReadGrade;
  readonly failure: ReadFailure | null;
};

export type TrajectoryFile = {
  readonly metadata: TableMetadata;
  /** By trajectory index; made one at a time. */
  readonly rows: Iterable<TrajectoryRow>;
};

export function readTrajectories(source: TableSource): TrajectoryFile {
  const { metadata, batches } = openTable(source, "trajectories");
  return {
    metadata,
    rows: {
      *[Symbol.iterator]() {
        for (const batch of batches) {
          for (let row = 0; row < batch.numRows; row++) yield readTrajectory(readRow(batch, row));
        }
      },
    },
  };
}

function readTrajectory(row: RowReader): TrajectoryRow {
  return {
    runId: row.text("run_id"),
    step: row.number("step"),
    questionIndex: row.number("question_index"),
    groupIndex: row.number("group_index"),
    problemId: row.text("problem_id"),
    dataSource: row.text("data_source"),
    reward: row.maybeNumber("reward"),
    correct: row.maybeFlag("correct"),
    validFormat: row.maybeFlag("valid_format"),
    advantage: row.maybeNumber("advantage"),
    finalAnswer: row.maybeText("final_answer"),
    termination: row.text("termination"),
    codeCalls: row.number("code_calls"),
    noDatum: row.maybeText("no_datum"),
    messages: row.nested("messages") as readonly ReadMessage[],
    tokens: row.ints("tokens"),
    spans: row.nested("spans") as readonly SpanRow[],
    logprobs: row.floats("logprobs"),
    turns: row.nested("turns") as readonly ReadTurn[],
    toolCalls: row.nested("tool_calls") as readonly ReadToolCall[],
    grade: row.nested("grade") as ReadGrade,
    failure: row.nested("failure") as ReadFailure | null,
  };
}
