/** One row of a record batch, read column by column; a value of another type than the schema's is refused by name. */
import type { RecordBatch } from "apache-arrow";

export type RowReader = {
  readonly number: (column: string) => number;
  readonly text: (column: string) => string;
  readonly flag: (column: string) => boolean;
  readonly maybeNumber: (column: string) => number | null;
  readonly maybeText: (column: string) => string | null;
  readonly maybeFlag: (column: string) => boolean | null;
  /** Lists and structs as arrays and records. */
  readonly nested: (column: string) => unknown;
  /** Items of a list as views of the batch. */
  readonly ints: (column: string) => Int32Array;
  readonly floats: (column: string) => Float32Array;
  readonly bytes: (column: string) => Uint8Array;
};

export function readRow(batch: RecordBatch, row: number): RowReader {
  const get = (column: string): unknown => batch.getChild(column)?.get(row) ?? null;
  const wrong = (column: string, expected: string, seen: unknown): TypeError =>
    new TypeError(`Row ${row}: expected ${expected} in ${column}, got ${String(seen)}`);
  const maybeNumber = (column: string): number | null => {
    const value = get(column);
    if (value === null || typeof value === "number") return value;
    throw wrong(column, "a number", value);
  };
  const maybeText = (column: string): string | null => {
    const value = get(column);
    if (value === null || typeof value === "string") return value;
    throw wrong(column, "text", value);
  };
  const maybeFlag = (column: string): boolean | null => {
    const value = get(column);
    if (value === null || typeof value === "boolean") return value;
    throw wrong(column, "true or false", value);
  };
  const there =
    <T>(read: (column: string) => T | null): ((column: string) => T) =>
    (column) => {
      const value = read(column);
      if (value === null) throw wrong(column, "a value", value);
      return value;
    };
  const items = (column: string): unknown => {
    const [data] = batch.getChild(column)?.data ?? [];
    return data?.children[0]?.values.subarray(data.valueOffsets[row], data.valueOffsets[row + 1]);
  };
  return {
    maybeNumber,
    maybeText,
    maybeFlag,
    number: there(maybeNumber),
    text: there(maybeText),
    flag: there(maybeFlag),
    nested: (column) => toPlain(get(column)),
    ints: (column) => {
      const value = items(column);
      if (value instanceof Int32Array) return value;
      throw wrong(column, "a list of int32", value);
    },
    floats: (column) => {
      const value = items(column);
      if (value instanceof Float32Array) return value;
      throw wrong(column, "a list of float32", value);
    },
    bytes: (column) => {
      const value = items(column);
      if (value instanceof Uint8Array) return value;
      throw wrong(column, "a list of uint8", value);
    },
  };
}

/** Arrow's views of lists and structs as arrays and records; int64 as a number. */
function toPlain(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (typeof value !== "object" || value === null) return value;
  if (Symbol.iterator in value && "length" in value) {
    return Array.from(value as Iterable<unknown>, toPlain);
  }
  const record = "toJSON" in value && typeof value.toJSON === "function" ? value.toJSON() : value;
  return Object.fromEntries(
    Object.entries(record as Record<string, unknown>).map(([name, item]) => [name, toPlain(item)]),
  );
}
