import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { trajectoryTable, writeTrajectories } from "../../src/index.ts";
import { askPython, HAS_PYTHON } from "../support/python.ts";
import { CONTEXT, literalStep, TRAJECTORY_OPTIONS } from "../support/sample-step.ts";
import { temporaryFolder } from "../support/temporary.ts";

const MESSAGE = "struct<role: string, content: string, tool_call_id: string, name: string>";
const USAGE =
  "struct<queued_seconds: double, wall_seconds: double, cpu_seconds: double, peak_memory_bytes: int64>";
const TYPES = {
  run_id: "string",
  step: "int32",
  question_index: "int32",
  group_index: "int32",
  problem_id: "string",
  data_source: "string",
  reward: "double",
  correct: "bool",
  valid_format: "bool",
  final_answer: "string",
  termination: "string",
  code_calls: "int32",
  advantage: "double",
  no_datum: "string",
  messages: `list<item: ${MESSAGE}>`,
  tokens: "list<item: int32>",
  spans: "list<item: struct<kind: string, start: int32, length: int32>>",
  logprobs: "list<item: float>",
  turns:
    "list<item: struct<prompt_length: int32, length: int32, text: string, finish: string, seed: int32, " +
    "versions: list<item: struct<version: string, start: int32, end: int32>>, parsed: string, " +
    "invalid_cause: string, opens_call: bool, text_mismatch: bool, start_time: timestamp[us, tz=UTC], " +
    "end_time: timestamp[us, tz=UTC]>>",
  tool_calls:
    "list<item: struct<id: string, turn: int32, code: string, status: string, exit_code: int32, signal: string, " +
    "limit: double, stdout: string, stderr: string, stdout_omitted_bytes: int64, stderr_omitted_bytes: int64, " +
    `content: string, truncated: bool, usage: ${USAGE}>>`,
  grade: "struct<kind: string, answer: string, by: string, reason: string, detail: string>",
  failure: "struct<boundary: string, cause: string, detail: string>",
};

const IDENTITY = { run_id: "run-1", step: 3, data_source: "made" };
const OPENING = [
  { role: "system", content: "Use the tool.", tool_call_id: null, name: null },
  { role: "user", content: "What is 6*7? π", tool_call_id: null, name: null },
];
const says = (ids: string) => ({
  role: "assistant",
  content: `say ${ids} 🙂`,
  tool_call_id: null,
  name: null,
});

const ROWS = [
  {
    ...IDENTITY,
    question_index: 0,
    group_index: 0,
    problem_id: "p0",
    reward: 1,
    correct: true,
    valid_format: true,
    final_answer: "42",
    termination: "answer",
    code_calls: 1,
    advantage: 1,
    no_datum: null,
    messages: [
      ...OPENING,
      says("20 21"),
      { role: "tool", content: "42\n", tool_call_id: "code-0-0-1", name: "code_interpreter" },
      says("40 41 42"),
    ],
    tokens: [10, 11, 12, 20, 21, 30, 31, 40, 41, 42],
    spans: [
      { kind: "context", start: 0, length: 3 },
      { kind: "sampled", start: 3, length: 2 },
      { kind: "observed", start: 5, length: 2 },
      { kind: "sampled", start: 7, length: 3 },
    ],
    logprobs: [-0.5, -0.25, -1, -2, -0.125],
    turns: [
      {
        prompt_length: 3,
        length: 2,
        text: "say 20 21 🙂",
        finish: "stop",
        seed: 100,
        versions: [{ version: "v1", start: 0, end: 2 }],
        parsed: "tool",
        invalid_cause: null,
        opens_call: true,
        text_mismatch: false,
        start_time: "1970-01-01T00:00:01.000000+00:00",
        end_time: "1970-01-01T00:00:02.000250+00:00",
      },
      {
        prompt_length: 7,
        length: 3,
        text: "say 40 41 42 🙂",
        finish: "stop",
        seed: 101,
        versions: [{ version: "v2", start: 0, end: 3 }],
        parsed: "answer",
        invalid_cause: null,
        opens_call: false,
        text_mismatch: false,
        start_time: "1970-01-01T00:00:01.001000+00:00",
        end_time: "1970-01-01T00:00:02.001250+00:00",
      },
    ],
    tool_calls: [
      {
        id: "code-0-0-1",
        turn: 0,
        code: "print(6*7)",
        status: "ok",
        exit_code: 0,
        signal: null,
        limit: null,
        stdout: "42\n",
        stderr: "warn\n[... 5 bytes omitted ...]\ning",
        stdout_omitted_bytes: 0,
        stderr_omitted_bytes: 5,
        content: "42\n",
        truncated: false,
        usage: {
          queued_seconds: 0.5,
          wall_seconds: 0.25,
          cpu_seconds: null,
          peak_memory_bytes: 2 ** 33,
        },
      },
    ],
    grade: { kind: "equal", answer: "42", by: "native", reason: null, detail: null },
    failure: null,
  },
  {
    ...IDENTITY,
    question_index: 0,
    group_index: 1,
    problem_id: "p0",
    reward: -1,
    correct: false,
    valid_format: false,
    final_answer: null,
    termination: "invalid_format",
    code_calls: 0,
    advantage: -1,
    no_datum: null,
    messages: [...OPENING, says("50")],
    tokens: [10, 11, 12, 50],
    spans: [
      { kind: "context", start: 0, length: 3 },
      { kind: "sampled", start: 3, length: 1 },
    ],
    logprobs: [-3],
    turns: [
      {
        prompt_length: 3,
        length: 1,
        text: "say 50 🙂",
        finish: "length",
        seed: 100,
        versions: [{ version: null, start: 0, end: 1 }],
        parsed: "invalid",
        invalid_cause: "unclosed_call",
        opens_call: true,
        text_mismatch: true,
        start_time: "1970-01-01T00:00:01.000000+00:00",
        end_time: "1970-01-01T00:00:02.000250+00:00",
      },
    ],
    tool_calls: [],
    grade: { kind: "different", answer: null, by: "format", reason: null, detail: null },
    failure: null,
  },
  {
    ...IDENTITY,
    question_index: 1,
    group_index: 0,
    problem_id: "p1",
    reward: null,
    correct: null,
    valid_format: null,
    final_answer: null,
    termination: "tool_failed",
    code_calls: 0,
    advantage: null,
    no_datum: "unscored",
    messages: [...OPENING, says("60 61")],
    tokens: [10, 60, 61],
    spans: [
      { kind: "context", start: 0, length: 1 },
      { kind: "sampled", start: 1, length: 2 },
    ],
    logprobs: [-1, -1],
    turns: [
      {
        prompt_length: 1,
        length: 2,
        text: "say 60 61 🙂",
        finish: "stop",
        seed: 100,
        versions: [{ version: "v1", start: 0, end: 2 }],
        parsed: "answer",
        invalid_cause: null,
        opens_call: false,
        text_mismatch: false,
        start_time: null,
        end_time: null,
      },
    ],
    tool_calls: [
      {
        id: "code-1-0-1",
        turn: 0,
        code: "while True: pass",
        status: "sandbox_error",
        exit_code: null,
        signal: null,
        limit: null,
        stdout: null,
        stderr: null,
        stdout_omitted_bytes: null,
        stderr_omitted_bytes: null,
        content: null,
        truncated: false,
        usage: null,
      },
    ],
    grade: {
      kind: "unscored",
      answer: null,
      by: null,
      reason: "sandbox_error",
      detail: "The worker died",
    },
    failure: { boundary: "sandbox", cause: "sandbox_error", detail: "The worker died" },
  },
  {
    ...IDENTITY,
    question_index: 1,
    group_index: 1,
    problem_id: "p1",
    reward: -1,
    correct: false,
    valid_format: true,
    final_answer: "7",
    termination: "answer",
    code_calls: 0,
    advantage: 0,
    no_datum: "zero_advantage",
    messages: [...OPENING, says("70")],
    tokens: [10, 70],
    spans: [
      { kind: "context", start: 0, length: 1 },
      { kind: "sampled", start: 1, length: 1 },
    ],
    logprobs: [-1],
    turns: [
      {
        prompt_length: 1,
        length: 1,
        text: "say 70 🙂",
        finish: "stop",
        seed: 100,
        versions: [{ version: "v1", start: 0, end: 1 }],
        parsed: "answer",
        invalid_cause: null,
        opens_call: false,
        text_mismatch: false,
        start_time: null,
        end_time: null,
      },
    ],
    tool_calls: [],
    grade: { kind: "different", answer: "7", by: "native", reason: null, detail: null },
    failure: null,
  },
];

const SHOW = `
def show(value):
    return value.isoformat(timespec="microseconds") if hasattr(value, "isoformat") else str(value)
`;

const PYARROW = `
import json, sys, pyarrow as pa
${SHOW}
with pa.ipc.open_file(pa.memory_map(sys.argv[1])) as reader:
    batches = [reader.get_batch(i) for i in range(reader.num_record_batches)]
    table = pa.Table.from_batches(batches, reader.schema)
table.validate(full=True)
print(json.dumps({
    "types": {f.name: str(f.type) for f in table.schema},
    "table": table.schema.metadata[b"table"].decode(),
    "batches": [b.num_rows for b in batches],
    "rows": table.to_pylist(),
}, default=show))`;

const POLARS = `
import json, sys, polars as pl
${SHOW}
print(json.dumps(pl.read_ipc(sys.argv[1]).to_dicts(), default=show))`;

describe.skipIf(!HAS_PYTHON)("trajectories.arrow, read by others", () => {
  test("pyarrow sees every column, both groups in one record batch", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "trajectories.arrow");
    await writeTrajectories(path, literalStep(), CONTEXT, TRAJECTORY_OPTIONS);
    const seen = await askPython(PYARROW, [path]);
    expect(seen).toEqual({ types: TYPES, table: "trajectories", batches: [4], rows: ROWS });
  });

  test("polars sees the same rows", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "trajectories.arrow");
    await writeTrajectories(path, literalStep(), CONTEXT, TRAJECTORY_OPTIONS);
    expect(await askPython(POLARS, [path])).toEqual(ROWS);
  });
});

test("times are unknown when nobody tells them", () => {
  const { timeOf: _, ...options } = TRAJECTORY_OPTIONS;
  const table = trajectoryTable(literalStep(), CONTEXT, options);
  for (const { columns } of table.batches) {
    const turns = columns[table.schema.names.indexOf("turns")]?.children[0];
    const [start, end] = turns?.children.slice(-2) ?? [];
    expect([start?.nullCount, end?.nullCount]).toEqual([turns?.length, turns?.length]);
  }
});
