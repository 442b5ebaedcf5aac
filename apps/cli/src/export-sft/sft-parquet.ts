/** In: conversations. Out: one Parquet file, messages as a list of records, as data set libraries read it. */
import { parquetWriteBuffer } from "hyparquet-writer";
import type { SftRow } from "./sft-rows.ts";

type Schema = NonNullable<Parameters<typeof parquetWriteBuffer>[0]["schema"]>;

const text = { type: "BYTE_ARRAY", converted_type: "UTF8" } as const;
const maybeText = { ...text, repetition_type: "OPTIONAL" } as const;
const someText = { ...text, repetition_type: "REQUIRED" } as const;
const int = { type: "INT32", repetition_type: "REQUIRED" } as const;

const COLUMNS = [
  "messages",
  "tools",
  "problem_id",
  "data_source",
  "final_answer",
  "reward",
  "turns",
  "code_calls",
  "run_id",
  "step",
  "question_index",
  "group_index",
] as const;

const SCHEMA: Schema = [
  { name: "schema", num_children: COLUMNS.length },
  { name: "messages", converted_type: "LIST", repetition_type: "REQUIRED", num_children: 1 },
  { name: "list", repetition_type: "REPEATED", num_children: 1 },
  { name: "element", repetition_type: "REQUIRED", num_children: 4 },
  { name: "role", ...someText },
  { name: "content", ...someText },
  { name: "tool_call_id", ...maybeText },
  { name: "name", ...maybeText },
  { name: "tools", ...someText },
  { name: "problem_id", ...someText },
  { name: "data_source", ...someText },
  { name: "final_answer", ...someText },
  { name: "reward", type: "DOUBLE", repetition_type: "REQUIRED" },
  { name: "turns", ...int },
  { name: "code_calls", ...int },
  { name: "run_id", ...someText },
  { name: "step", ...int },
  { name: "question_index", ...int },
  { name: "group_index", ...int },
];

/** `tools`: JSON of the declared tools, the same for every row. */
export function sftParquet(rows: readonly SftRow[], tools: string): Uint8Array {
  const columnData = COLUMNS.map((name) => ({
    name,
    data: rows.map((row) => (name === "tools" ? tools : row[name])),
  }));
  return new Uint8Array(parquetWriteBuffer({ columnData, schema: SCHEMA }));
}
