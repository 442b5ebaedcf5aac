import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { projectMicroBatch } from "@interlace/core";
import { streamDatums, writeDatums } from "../../src/index.ts";
import { askPython, HAS_PYTHON } from "../support/python.ts";
import { CONTEXT, drawnStep, literalStep } from "../support/sample-step.ts";
import { temporaryFolder } from "../support/temporary.ts";

// question 0: A = 1 − 0 = 1 and −1 − 0 = −1; N = 3 scored, so one batch of 2 weighs float32(2/3).
const WEIGHT = Math.fround(2 / 3);
const ROWS = [
  {
    // full:          10  11  12  20    21     30  31  40  41  42
    input_tokens: [10, 11, 12, 20, 21, 30, 31, 40, 41],
    target_tokens: [11, 12, 20, 21, 30, 31, 40, 41, 42],
    old_logprobs: [0, 0, -0.5, -0.25, 0, 0, -1, -2, -0.125],
    advantages: [0, 0, 1, 1, 0, 0, 1, 1, 1],
    loss_mask: [0, 0, 1, 1, 0, 0, 1, 1, 1],
    run_id: "run-1",
    step: 3,
    question_index: 0,
    group_index: 0,
    problem_id: "p0",
    data_source: "made",
    reward: 1,
    correct: true,
    valid_format: true,
    final_answer: "42",
    termination: "answer",
    turns: 2,
    code_calls: 1,
    weight_version_start: "v1",
    weight_version_end: "v2",
    sampler: "scripted",
    model: "byte-model",
    micro_batch: 0,
    sample_weight: WEIGHT,
    turn_ends: [5, 10],
    group_mean: 0,
    group_scored: 2,
  },
  {
    input_tokens: [10, 11, 12],
    target_tokens: [11, 12, 50],
    old_logprobs: [0, 0, -3],
    advantages: [0, 0, -1],
    loss_mask: [0, 0, 1],
    run_id: "run-1",
    step: 3,
    question_index: 0,
    group_index: 1,
    problem_id: "p0",
    data_source: "made",
    reward: -1,
    correct: false,
    valid_format: false,
    final_answer: null,
    termination: "invalid_format",
    turns: 1,
    code_calls: 0,
    weight_version_start: null,
    weight_version_end: null,
    sampler: "scripted",
    model: "byte-model",
    micro_batch: 0,
    sample_weight: WEIGHT,
    turn_ends: [4],
    group_mean: 0,
    group_scored: 2,
  },
];

const TYPES = {
  input_tokens: "list<item: int32>",
  target_tokens: "list<item: int32>",
  old_logprobs: "list<item: float>",
  advantages: "list<item: float>",
  loss_mask: "list<item: uint8>",
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
  turns: "int32",
  code_calls: "int32",
  weight_version_start: "string",
  weight_version_end: "string",
  sampler: "string",
  model: "string",
  micro_batch: "int32",
  sample_weight: "float",
  turn_ends: "list<item: int32>",
  group_mean: "double",
  group_scored: "int32",
};

const METADATA = {
  table: "datums",
  schema_version: "1.0",
  scored_samples: "3",
  rows: "2",
  group_size: "2",
  temperature: "1",
  top_p: "0.7",
  top_k: "off",
  logprob_kind: "processed",
  tokenizer_id: "bytes",
  tokenizer_hash: "sha256:01",
  vocab_size: "265",
  max_context_tokens: "512",
  seed: "42",
  seed_scheme: "hashed",
  config_hash: "sha256:02",
  advantage_estimator: "group_centred",
  system_prompt_hash: "sha256:03",
  tool_hash: "sha256:04",
  chat_template_hash: "sha256:05",
};

const PYARROW = `
import json, sys, pyarrow as pa
if sys.argv[1] == "-":
    with pa.ipc.open_stream(sys.stdin.buffer) as reader:
        batches = list(reader)
        schema = reader.schema
else:
    with pa.ipc.open_file(pa.memory_map(sys.argv[1])) as reader:
        batches = [reader.get_batch(i) for i in range(reader.num_record_batches)]
        schema = reader.schema
table = pa.Table.from_batches(batches, schema)
table.validate(full=True)
print(json.dumps({
    "types": {f.name: str(f.type) for f in schema},
    "metadata": {k.decode(): v.decode() for k, v in schema.metadata.items()},
    "batches": [b.num_rows for b in batches],
    "rows": table.to_pylist(),
}))`;

const POLARS = `
import json, sys, polars as pl
read = pl.read_ipc_stream(sys.stdin.buffer) if sys.argv[1] == "-" else pl.read_ipc(sys.argv[1])
print(json.dumps({"rows": read.to_dicts()}))`;

describe.skipIf(!HAS_PYTHON)("datums.arrow, read by others", () => {
  test("pyarrow sees the file's types, metadata, batches and every value", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "datums.arrow");
    const bytes = await writeDatums(path, literalStep(), CONTEXT);
    expect(Bun.file(path).size).toBe(bytes);
    const seen = await askPython(PYARROW, [path]);
    expect(seen).toEqual({ types: TYPES, metadata: METADATA, batches: [2], rows: ROWS });
  });

  test("pyarrow sees the same in the stream", async () => {
    const bytes = Buffer.concat([...streamDatums(literalStep(), CONTEXT)]);
    const seen = await askPython(PYARROW, ["-"], bytes);
    expect(seen).toEqual({ types: TYPES, metadata: METADATA, batches: [2], rows: ROWS });
  });

  test("polars sees the same in file and stream", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "datums.arrow");
    await writeDatums(path, literalStep(), CONTEXT);
    expect(await askPython(POLARS, [path])).toEqual({ rows: ROWS });
    const bytes = Buffer.concat([...streamDatums(literalStep(), CONTEXT)]);
    expect(await askPython(POLARS, ["-"], bytes)).toEqual({ rows: ROWS });
  });

  test("a step without datums is a table without rows, with its schema", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "datums.arrow");
    const step = { ...literalStep(), datums: [], microBatches: [] };
    await writeDatums(path, step, CONTEXT);
    const empty = { types: TYPES, metadata: { ...METADATA, rows: "0" }, batches: [], rows: [] };
    expect(await askPython(PYARROW, [path])).toEqual(empty);
    const bytes = Buffer.concat([...streamDatums(step, CONTEXT)]);
    expect(await askPython(PYARROW, ["-"], bytes)).toEqual(empty);
  });

  test("every array of many micro-batches has the bytes that the projection has, without a copy", async () => {
    const step = drawnStep(12, 7);
    expect(step.microBatches.length).toBeGreaterThan(5);
    await using folder = await temporaryFolder();
    const path = join(folder.path, "datums.arrow");
    await writeDatums(path, step, CONTEXT);
    const hash = (array: NodeJS.ArrayBufferView) =>
      createHash("sha256").update(array).digest("hex");
    const expected = step.microBatches.map((batch) =>
      projectMicroBatch(step, batch).map((datum) => [
        hash(datum.inputTokens),
        hash(datum.targetTokens),
        hash(datum.oldLogprobs),
        hash(datum.advantages),
        hash(datum.lossMask),
        hash(datum.turnEnds),
      ]),
    );
    const seen = await askPython(
      `
import hashlib, json, sys, pyarrow as pa
names = ["input_tokens", "target_tokens", "old_logprobs", "advantages", "loss_mask", "turn_ends"]
out = []
with pa.ipc.open_file(pa.memory_map(sys.argv[1])) as reader:
    for i in range(reader.num_record_batches):
        batch = reader.get_batch(i)
        columns = {n: (batch[n].offsets.to_numpy(), batch[n].values.to_numpy(zero_copy_only=True)) for n in names}
        out.append([[hashlib.sha256(v[o[r]:o[r + 1]].tobytes()).hexdigest() for o, v in columns.values()]
                    for r in range(batch.num_rows)])
print(json.dumps(out))`,
      [path],
    );
    expect(seen).toEqual(expected);
  });
});

describe("datums.arrow, read by polars in JavaScript", () => {
  test("has the same rows in file and stream", async () => {
    const { default: pl } = await import("nodejs-polars");
    await using folder = await temporaryFolder();
    const path = join(folder.path, "datums.arrow");
    await writeDatums(path, literalStep(), CONTEXT);
    const file = pl.readIPC(Buffer.from(await Bun.file(path).bytes()));
    const stream = pl.readIPCStream(Buffer.concat([...streamDatums(literalStep(), CONTEXT)]));
    for (const frame of [file, stream]) {
      expect(frame.columns).toEqual(Object.keys(TYPES));
      expect(JSON.parse(JSON.stringify(frame.toRecords()))).toEqual(ROWS);
    }
  });
});
