/** `trajectories.arrow` back as records, for `verify`, `view` and re-scoring; token columns are views of the file. */
import type { TrajectoryRow as CheckedRow } from "@interlace/core";
import type { TableMetadata } from "./metadata.ts";
import { openTable, type TableSource } from "./read-table.ts";
import { readRow, type RowReader } from "./row-reader.ts";

export type ReadMessage = CheckedRow["messages"][number] & {
  readonly tool_call_id: string | null;
  readonly name: string | null;
};

export type ReadTurn = CheckedRow["turns"][number] & {
  /** Milliseconds since 1970, with a fraction; null = not known. */
  readonly start_time: number | null;
  readonly end_time: number | null;
};

export type ReadToolCall = CheckedRow["toolCalls"][number] & {
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly limit: number | null;
  readonly stdout: string | null;
  readonly stderr: string | null;
  readonly stdout_omitted_bytes: number | null;
  readonly stderr_omitted_bytes: number | null;
  readonly usage: {
    readonly queued_seconds: number;
    readonly wall_seconds: number;
    readonly cpu_seconds: number | null;
    readonly peak_memory_bytes: number | null;
  } | null;
};

export type ReadGrade = CheckedRow["grade"];

export type ReadFailure = NonNullable<CheckedRow["failure"]>;

/** The row that the core's `verify` reads, and the columns that it does not judge. */
export type TrajectoryRow = Omit<CheckedRow, "messages" | "turns" | "toolCalls"> & {
  readonly runId: string;
  readonly messages: readonly ReadMessage[];
  readonly turns: readonly ReadTurn[];
  readonly toolCalls: readonly ReadToolCall[];
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
    spans: row.nested("spans") as TrajectoryRow["spans"],
    logprobs: row.floats("logprobs"),
    turns: row.nested("turns") as readonly ReadTurn[],
    toolCalls: row.nested("tool_calls") as readonly ReadToolCall[],
    grade: row.nested("grade") as ReadGrade,
    failure: row.nested("failure") as ReadFailure | null,
  };
}
