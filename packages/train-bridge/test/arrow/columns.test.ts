import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Bool, Int32, Utf8, Vector, vectorFromArray, type Data, type DataType } from "apache-arrow";
import {
  boolColumn,
  checkBufferBytes,
  intColumn,
  packRows,
  textColumn,
} from "../../src/columns.ts";
import { makeRecordBatch } from "../../src/record-batch.ts";
import { tableSchema } from "../../src/schema.ts";

describe("rows in pieces", () => {
  test("lie one behind the other", () => {
    const rows = [
      [Int32Array.of(1, 2), Int32Array.of(3)],
      [],
      [new Int32Array(0), Int32Array.of(4)],
    ];
    const { data, offsets } = packRows(rows, "tokens", Int32Array);
    expect([...data]).toEqual([1, 2, 3, 4]);
    expect([...offsets]).toEqual([0, 3, 3, 4]);
  });

  test("of nothing are nothing", () => {
    const { data, offsets } = packRows([], "tokens", Float32Array);
    expect([data.length, ...offsets]).toEqual([0, 0]);
  });
});

describe("a column", () => {
  test("equals what the library's own builders make", () => {
    fc.assert(
      fc.property(
        fc.array(fc.option(fc.string({ unit: "binary" }))),
        fc.array(fc.option(fc.boolean())),
        fc.array(fc.option(fc.maxSafeInteger().map((value) => value | 0))),
        (texts, flags, ints) => {
          const wellFormed = texts.map((text) => text?.toWellFormed() ?? null);
          expectSame(textColumn(texts, "text"), vectorFromArray(wellFormed, new Utf8()));
          expectSame(boolColumn(flags), vectorFromArray(flags, new Bool()));
          expectSame(intColumn(ints), vectorFromArray(ints, new Int32()));
        },
      ),
    );
  });

  test("that 32-bit offsets cannot span is refused, with what to do", () => {
    expect(() => checkBufferBytes(2 ** 31 - 8, "input_tokens")).not.toThrow();
    expect(() => checkBufferBytes(2 ** 31 - 7, "input_tokens")).toThrow(
      "Expected at most 2147483640 bytes of input_tokens in one record batch, got 2147483641; " +
        "lower max_padded_tokens (datums) or the group size (trajectories)",
    );
  });
});

function expectSame<T extends DataType>(ours: Data<T>, theirs: Vector<T>): void {
  expect([...new Vector([ours])]).toEqual([...theirs]);
  expect(ours.nullCount).toBe(theirs.nullCount);
}

test("a record batch with a missing, uneven or unknown column is refused by name", () => {
  const schema = tableSchema("datums", new Map());
  const columns = Object.fromEntries(schema.names.map((name) => [String(name), intColumn([1])]));
  const { reward: _, ...without } = columns;
  expect(() => makeRecordBatch(schema, 1, without)).toThrow("column reward, got undefined");
  expect(() => makeRecordBatch(schema, 1, { ...columns, step: intColumn([1, 2]) })).toThrow(
    "Expected 1 values of column step, got 2",
  );
  expect(() => makeRecordBatch(schema, 1, { ...columns, mood: intColumn([1]) })).toThrow("mood");
});
