import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { projectMicroBatch } from "@interlace/core";
import {
  encodeIpc,
  readDatums,
  readTrajectories,
  streamDatums,
  trajectoryTable,
  writeDatums,
} from "../../src/index.ts";
import { datumTable } from "../../src/datum-batches.ts";
import {
  CONTEXT,
  drawnStep,
  FACTS,
  literalStep,
  TRAJECTORY_OPTIONS,
} from "../support/sample-step.ts";
import { temporaryFolder } from "../support/temporary.ts";

function bytesOf(parts: Iterable<readonly Uint8Array[]>): Uint8Array {
  return new Uint8Array(Buffer.concat([...parts].flat()));
}

const stream = (): Uint8Array => bytesOf([[...streamDatums(literalStep(), CONTEXT)]]);
const file = (): Uint8Array => bytesOf(encodeIpc(datumTable(literalStep(), CONTEXT), "file"));

/** The schema's metadata is text in the bytes; same length, so that nothing else moves. */
function patched(bytes: Uint8Array, from: string, to: string): Uint8Array {
  const text = Buffer.from(bytes).toString("latin1");
  expect(text).toContain(from);
  return new Uint8Array(Buffer.from(text.replaceAll(from, to), "latin1"));
}

describe("readDatums", () => {
  test("gives back what was projected, from a path, a file's bytes and a stream", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "datums.arrow");
    const step = drawnStep(6, 1);
    await writeDatums(path, step, CONTEXT);
    const expected = step.microBatches.map((batch) => projectMicroBatch(step, batch));
    for (const source of [path, await Bun.file(path).bytes()]) {
      const { microBatches } = readDatums(source);
      expect(microBatches.map((rows) => rows.map(({ datum }) => datum))).toEqual(
        expected as typeof expected & [],
      );
    }
    // All pieces of the stream are held before the first one is read, as a slow socket does.
    const pieces = [...streamDatums(step, CONTEXT)];
    const streamed = readDatums(bytesOf([pieces])).microBatches;
    expect(streamed.map((rows) => rows.map(({ datum }) => datum))).toEqual(
      expected as typeof expected & [],
    );
    const { microBatches } = readDatums(stream());
    expect(microBatches.map((rows) => rows.map(({ groupIndex }) => groupIndex))).toEqual([[0, 1]]);
  });

  test("gives back identity, outcome, packing and the facts of the run", () => {
    const { metadata, microBatches } = readDatums(file());
    expect(metadata).toEqual({
      ...FACTS,
      table: "datums",
      schemaVersion: "1.0",
      scoredSamples: 3,
      rows: 2,
    });
    const [first, second] = microBatches[0] ?? [];
    expect(first).toMatchObject({
      runId: "run-1",
      step: 3,
      questionIndex: 0,
      groupIndex: 0,
      problemId: "p0",
      reward: 1,
      correct: true,
      finalAnswer: "42",
      weightVersionStart: "v1",
      weightVersionEnd: "v2",
      microBatch: 0,
      sampleWeight: Math.fround(2 / 3),
      groupMean: 0,
      groupScored: 2,
    });
    expect(second).toMatchObject({
      finalAnswer: null,
      weightVersionStart: null,
      validFormat: false,
    });
  });

  test("makes no copy of the token columns", () => {
    const bytes = file();
    const [rows = []] = readDatums(bytes).microBatches;
    for (const { datum } of rows)
      expect(datum.inputTokens.buffer).toBe(bytes.buffer as ArrayBuffer);
  });
});

test("readTrajectories gives back every column", () => {
  const table = trajectoryTable(literalStep(), CONTEXT, TRAJECTORY_OPTIONS);
  for (const format of ["file", "stream"] as const) {
    const { metadata, rows } = readTrajectories(bytesOf(encodeIpc(table, format)));
    expect(metadata.table).toBe("trajectories");
    const [first, second, third, ...rest] = rows;
    expect(rest.length).toBe(1);
    expect([...(first?.tokens ?? [])]).toEqual([10, 11, 12, 20, 21, 30, 31, 40, 41, 42]);
    expect([...(first?.logprobs ?? [])]).toEqual([-0.5, -0.25, -1, -2, -0.125]);
    expect(first?.messages[3]).toEqual({
      role: "tool",
      content: "42\n",
      tool_call_id: "code-0-0-1",
      name: "code_interpreter",
    });
    expect(first?.turns[1]).toMatchObject({
      prompt_length: 7,
      versions: [{ version: "v2", start: 0, end: 3 }],
      start_time: 1001,
      end_time: 2001.25,
    });
    expect(first?.toolCalls[0]?.usage).toEqual({
      queued_seconds: 0.5,
      wall_seconds: 0.25,
      cpu_seconds: null,
      peak_memory_bytes: 2 ** 33,
    });
    expect(first?.failure).toBeNull();
    expect(second).toMatchObject({ finalAnswer: null, validFormat: false, noDatum: null });
    expect(third).toMatchObject({
      reward: null,
      correct: null,
      advantage: null,
      noDatum: "unscored",
      failure: { boundary: "sandbox", cause: "sandbox_error", detail: "The worker died" },
    });
  }
});

describe("refused", () => {
  test("is a higher major version; a higher minor one is read", () => {
    expect(() => readDatums(patched(stream(), "1.0", "2.0"))).toThrow(
      "expected schema version 1.0 or an older one, got 2.0; read it with a newer Interlace",
    );
    expect(readDatums(patched(stream(), "1.0", "1.9")).metadata.schemaVersion).toBe("1.9");
    expect(() => readDatums(patched(stream(), "1.0", "1.x"))).toThrow("got 1.x");
  });

  test("is the other table, and Arrow that is not ours", () => {
    expect(() => readTrajectories(file())).toThrow("expected the table trajectories, got datums");
    expect(() => readDatums(patched(stream(), "schema_version", "schema_vorsion"))).toThrow(
      "expected a table of Interlace",
    );
  });

  test("is a table without a column of ours, by name", () => {
    expect(() => readDatums(patched(stream(), "group_scored", "group_scared"))).toThrow(
      "expected the columns group_scored, got none of that name",
    );
  });

  test("is anything that ends too early", () => {
    for (const whole of [file(), stream()]) {
      for (const cut of [1, 8, 100, whole.length - 20]) {
        const part = whole.slice(0, whole.length - cut);
        expect(() => readDatums(part)).toThrow(`got ${part.length} bytes without its end`);
      }
    }
    expect(() => readDatums(new Uint8Array(0))).toThrow("got 0 bytes without its end");
  });

  test("is a stream that lacks a whole batch", () => {
    const step = drawnStep(6, 1);
    const parts = [...encodeIpc(datumTable(step, CONTEXT), "stream")];
    const cut = bytesOf([...parts.slice(0, -2), ...parts.slice(-1)]);
    expect(() => readDatums(cut)).toThrow(
      `expected ${step.datums.length} rows, as its metadata says`,
    );
  });

  test("is a path where nothing is", () => {
    expect(() => readDatums("/nowhere/datums.arrow")).toThrow(
      "/nowhere/datums.arrow: expected Arrow data, got no such file or an empty one",
    );
  });
});
