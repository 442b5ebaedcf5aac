/**
 * The columns of the two tables, in Arrow's types (datum.md §4). A reader in another language needs nothing but these.
 * A new column is a minor version; anything that changes the meaning of one is a major version, which old readers refuse.
 */
import {
  Bool,
  Field,
  Float32,
  Float64,
  Int32,
  Int64,
  List,
  Schema,
  Struct,
  TimestampMicrosecond,
  Uint8,
  Utf8,
  type DataType,
} from "apache-arrow";

export const SCHEMA_VERSION = "1.0";

export type TableName = "datums" | "trajectories";

const int = new Int32();
const long = new Int64();
const text = new Utf8();
const bool = new Bool();
const double = new Float64();
const time = new TimestampMicrosecond("UTC");

/** Item name and nullability as other writers have them, so that `list<int32>` is the same type everywhere. */
export function listOf<T extends DataType>(item: T): List<T> {
  return new List(new Field("item", item, true));
}

export function structOf(fields: Readonly<Record<string, DataType>>): Struct {
  return new Struct(Object.entries(fields).map(([name, type]) => new Field(name, type, true)));
}

const IDENTITY = {
  run_id: text,
  step: int,
  question_index: int,
  group_index: int,
  problem_id: text,
  data_source: text,
};

const DATUM_COLUMNS = {
  input_tokens: listOf(int),
  target_tokens: listOf(int),
  old_logprobs: listOf(new Float32()),
  advantages: listOf(new Float32()),
  loss_mask: listOf(new Uint8()),
  ...IDENTITY,
  reward: double,
  correct: bool,
  valid_format: bool,
  final_answer: text,
  termination: text,
  turns: int,
  code_calls: int,
  weight_version_start: text,
  weight_version_end: text,
  sampler: text,
  model: text,
  micro_batch: int,
  sample_weight: new Float32(),
  turn_ends: listOf(int),
  group_mean: double,
  group_scored: int,
};

export const MESSAGE = structOf({ role: text, content: text, tool_call_id: text, name: text });
export const SPAN = structOf({ kind: text, start: int, length: int });
export const VERSION_SPAN = structOf({ version: text, start: int, end: int });
export const TURN = structOf({
  prompt_length: int,
  length: int,
  text,
  finish: text,
  seed: int,
  versions: listOf(VERSION_SPAN),
  parsed: text,
  invalid_cause: text,
  opens_call: bool,
  text_mismatch: bool,
  start_time: time,
  end_time: time,
});
export const USAGE = structOf({
  queued_seconds: double,
  wall_seconds: double,
  cpu_seconds: double,
  peak_memory_bytes: long,
});
export const TOOL_CALL = structOf({
  id: text,
  turn: int,
  code: text,
  status: text,
  exit_code: int,
  signal: text,
  limit: double,
  stdout: text,
  stderr: text,
  stdout_omitted_bytes: long,
  stderr_omitted_bytes: long,
  content: text,
  truncated: bool,
  usage: USAGE,
});
export const GRADE = structOf({ kind: text, answer: text, by: text, reason: text, detail: text });
export const FAILURE = structOf({ boundary: text, cause: text, detail: text });

/** The number of turns is the length of `turns`. */
const TRAJECTORY_COLUMNS = {
  ...IDENTITY,
  reward: double,
  correct: bool,
  valid_format: bool,
  final_answer: text,
  termination: text,
  code_calls: int,
  advantage: double,
  no_datum: text,
  messages: listOf(MESSAGE),
  tokens: listOf(int),
  spans: listOf(SPAN),
  logprobs: listOf(new Float32()),
  turns: listOf(TURN),
  tool_calls: listOf(TOOL_CALL),
  grade: GRADE,
  failure: FAILURE,
};

/** Columns that can hold null; all others never do. */
const NULLABLE = new Set([
  "final_answer",
  "weight_version_start",
  "weight_version_end",
  // Trajectories only: what an unscored one does not have, and what is absent when all went well.
  "trajectories.reward",
  "trajectories.correct",
  "trajectories.valid_format",
  "trajectories.advantage",
  "trajectories.no_datum",
  "trajectories.failure",
]);

const COLUMNS: Readonly<Record<TableName, Readonly<Record<string, DataType>>>> = {
  datums: DATUM_COLUMNS,
  trajectories: TRAJECTORY_COLUMNS,
};

/** Schema of a table with its metadata. */
export function tableSchema(table: TableName, metadata: ReadonlyMap<string, string>): Schema {
  const fields = Object.entries(COLUMNS[table]).map(
    ([name, type]) => new Field(name, type, NULLABLE.has(name) || NULLABLE.has(`${table}.${name}`)),
  );
  return new Schema(fields, new Map(metadata));
}

export function columnNames(table: TableName): readonly string[] {
  return Object.keys(COLUMNS[table]);
}
