/** Our messages of record batches against those of the library's own writer, byte for byte. */
import { describe, expect, test } from "bun:test";
import {
  makeData,
  RecordBatch,
  RecordBatchFileWriter,
  RecordBatchStreamWriter,
  Struct,
  tableFromIPC,
} from "apache-arrow";
import { prepareStep, type StepDatums } from "@interlace/core";
import { encodeBatch } from "../../src/encode-batch.ts";
import {
  datumTable,
  encodeIpc,
  trajectoryTable,
  type ArrowTable,
  type IpcFormat,
} from "../../src/index.ts";
import {
  CONTEXT,
  drawnStep,
  group,
  LITERAL_GROUPS,
  literalStep,
  member,
  TRAJECTORY_OPTIONS,
} from "../support/sample-step.ts";

const RIGHT = { kind: "equal", answer: "42", by: "native" } as const;
const WRONG = { kind: "different", answer: null, by: "native" } as const;

/** Rows long enough that token columns are pieces of their own, of lengths that need padding. */
function longStep(): StepDatums {
  const turn = (tokens: number) => ({
    before: [1, 2],
    sampled: Array.from({ length: tokens }, (_, i) => i),
    logprobs: Array.from({ length: tokens }, (_, i) => -i / tokens),
  });
  const groups = [4096, 1023, 1024, 1025, 5001].map((tokens, question) =>
    group(question, [member(0, [turn(tokens)], RIGHT), member(1, [turn(3)], WRONG)]),
  );
  return prepareStep([...groups, { ...LITERAL_GROUPS[1]!, question: 9 }], {
    maxContextTokens: 10_000,
    packing: { maxItems: 3, maxPaddedTokens: 20_000 },
  });
}

function asTheLibrary({ schema, batches }: ArrowTable, format: IpcFormat): Uint8Array {
  const writer = format === "file" ? new RecordBatchFileWriter() : new RecordBatchStreamWriter();
  writer.reset(undefined, schema);
  for (const { rows, columns } of batches) {
    const type = new Struct(schema.fields);
    const data = makeData({ type, length: rows, nullCount: 0, children: [...columns] });
    writer.write(new RecordBatch(schema, data));
  }
  writer.close();
  return writer.toUint8Array(true);
}

const STEPS = { literal: literalStep(), drawn: drawnStep(70, 3), long: longStep() };

describe.each(["file", "stream"] as const)("a %s", (format) => {
  test.each(Object.entries(STEPS))("of the %s step is the library's", (_, step) => {
    for (const table of [
      datumTable(step, CONTEXT),
      trajectoryTable(step, CONTEXT, TRAJECTORY_OPTIONS),
    ]) {
      const ours = Buffer.concat([...encodeIpc(table, format)].flat());
      expect(ours.equals(asTheLibrary(table, format))).toBe(true);
      const rows = [...table.batches].reduce((sum, batch) => sum + batch.rows, 0);
      expect(tableFromIPC(ours).numRows).toBe(rows);
    }
  });
});

test("large columns are pieces as they lie, everything else is put together", () => {
  const table = datumTable(STEPS.long, CONTEXT);
  const [batch] = table.batches;
  if (batch === undefined) throw new Error("a batch");
  const { pieces, metadataBytes, bodyBytes } = encodeBatch(batch);
  expect(pieces.reduce((sum, { length }) => sum + length, 0)).toBe(metadataBytes + bodyBytes);
  // Four columns of four bytes a token and the mask, and what lies before, between and behind them.
  expect(pieces.length).toBe(11);
  const [tokens] = batch.columns[0]?.children ?? [];
  expect(pieces[1]?.buffer).toBe(tokens?.values.buffer);
});

test("a batch without rows and a slice of a column are refused", () => {
  const [batch] = datumTable(literalStep(), CONTEXT).batches;
  if (batch === undefined) throw new Error("a batch");
  expect(() => encodeBatch({ rows: 0, columns: [] })).toThrow("with rows, got none");
  const columns = batch.columns.map((column) => column.slice(1, 1));
  expect(() => encodeBatch({ rows: 1, columns })).toThrow("whole column, got a slice from 1");
});
