/**
 * In: values of one column. Out: Arrow data made directly from typed arrays; builders are a hundred times slower.
 * Numbers that lie in memory as Arrow wants them are not copied. Refuses a buffer that 32-bit offsets cannot span.
 */
import {
  Bool,
  Float32,
  Float64,
  Int32,
  Int64,
  type List,
  makeData,
  type Struct,
  TimestampMicrosecond,
  Uint8,
  Utf8,
  type Data,
  type DataType,
} from "apache-arrow";
import { FRESH } from "./column-memory.ts";
import { listOf } from "./schema.ts";

/** Offsets are int32 and the writer rounds a buffer's length up to 8 bytes in 32 bits. */
const MAX_BUFFER_BYTES = 2 ** 31 - 8;

type Maybe<T> = T | null | undefined;

export function intColumn(values: readonly Maybe<number>[]): Data<Int32> {
  const data = new Int32Array(values.length);
  for (let i = 0; i < data.length; i++) data[i] = values[i] ?? 0;
  return makeData({ type: new Int32(), length: values.length, data, ...validity(values) });
}

export function floatColumn(values: readonly number[]): Data<Float32> {
  const data = new Float32Array(values.length);
  for (let i = 0; i < data.length; i++) data[i] = values[i] as number;
  return makeData({ type: new Float32(), length: values.length, nullCount: 0, data });
}

export function doubleColumn(values: readonly Maybe<number>[]): Data<Float64> {
  const data = new Float64Array(values.length);
  for (let i = 0; i < data.length; i++) data[i] = values[i] ?? 0;
  return makeData({ type: new Float64(), length: values.length, data, ...validity(values) });
}

/** Whole numbers up to 2^53, as int64. */
export function longColumn(values: readonly Maybe<number>[]): Data<Int64> {
  const data = BigInt64Array.from(values, (value) => BigInt(value ?? 0));
  return makeData({ type: new Int64(), length: values.length, data, ...validity(values) });
}

/** Milliseconds since 1970, with a fraction; kept to the microsecond. */
export function timeColumn(values: readonly Maybe<number>[]): Data<TimestampMicrosecond> {
  const data = BigInt64Array.from(values, (value) => BigInt(Math.round((value ?? 0) * 1000)));
  const type = new TimestampMicrosecond("UTC");
  return makeData({ type, length: values.length, data, ...validity(values) });
}

export function boolColumn(values: readonly Maybe<boolean>[]): Data<Bool> {
  const data = bits(values, (value) => value === true);
  return makeData({ type: new Bool(), length: values.length, data, ...validity(values) });
}

/** UTF-8; a lone surrogate becomes U+FFFD, as Arrow's text must be well formed. */
export function textColumn(
  values: readonly Maybe<string>[],
  name: string,
  memory = FRESH,
): Data<Utf8> {
  const offsets = new Int32Array(values.length + 1);
  let end = 0;
  for (let i = 0; i < values.length; i++) {
    offsets[i + 1] = end += Buffer.byteLength(values[i] ?? "");
  }
  checkBufferBytes(end, name);
  // Every byte of it is written: measuring first costs less than an array for each text.
  const data = memory.take(end);
  for (let i = 0; i < values.length; i++) data.write(values[i] ?? "", offsets[i] ?? 0);
  const type = new Utf8();
  return makeData({
    type,
    length: values.length,
    valueOffsets: offsets,
    data,
    ...validity(values),
  });
}

/** One text in every row. */
export function constantColumn(value: string | null, rows: number, name: string): Data<Utf8> {
  return textColumn(Array<string | null>(rows).fill(value), name);
}

/** Items of all rows, one behind the other, and where each row begins; the last offset is where the last one ends. */
export type Packed<T> = { readonly offsets: Int32Array; readonly data: T };

export function intListColumn({ offsets, data }: Packed<Int32Array>): Data<List<Int32>> {
  return listColumn(
    offsets,
    makeData({ type: new Int32(), length: data.length, nullCount: 0, data }),
  );
}

export function floatListColumn({ offsets, data }: Packed<Float32Array>): Data<List<Float32>> {
  return listColumn(
    offsets,
    makeData({ type: new Float32(), length: data.length, nullCount: 0, data }),
  );
}

export function byteListColumn({ offsets, data }: Packed<Uint8Array>): Data<List<Uint8>> {
  return listColumn(
    offsets,
    makeData({ type: new Uint8(), length: data.length, nullCount: 0, data }),
  );
}

/** `build` gets all items of all rows, flat, and makes the child. */
export function nestedListColumn<T, D extends DataType>(
  rows: readonly (readonly T[])[],
  build: (items: readonly T[]) => Data<D>,
): Data<List<D>> {
  const offsets = new Int32Array(rows.length + 1);
  for (const [i, row] of rows.entries()) offsets[i + 1] = (offsets[i] ?? 0) + row.length;
  return listColumn(offsets, build(rows.flat()));
}

/** `present` false = the whole struct is null. Children in the order of the type's fields. */
export function structColumn(
  type: Struct,
  children: readonly Data[],
  present: readonly boolean[],
): Data<Struct> {
  const rows = present.map((there) => (there ? true : null));
  return makeData({ type, length: rows.length, children: [...children], ...validity(rows) });
}

function listColumn<T extends DataType>(offsets: Int32Array, child: Data<T>): Data<List<T>> {
  const length = offsets.length - 1;
  return makeData({ type: listOf(child.type), length, nullCount: 0, valueOffsets: offsets, child });
}

type ArrayType<T> = {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): T;
};

/** In: each row in pieces. Out: all of them in one array. */
export function packRows<T extends Int32Array | Float32Array>(
  rows: readonly (readonly T[])[],
  name: string,
  type: ArrayType<T>,
  memory = FRESH,
): Packed<T> {
  let total = 0;
  for (const row of rows) for (const { length } of row) total += length;
  const bytes = total * type.BYTES_PER_ELEMENT;
  checkBufferBytes(bytes, name);
  const offsets = new Int32Array(rows.length + 1);
  const { buffer, byteOffset } = memory.take(bytes);
  const data = new type(buffer, byteOffset, total);
  let end = 0;
  for (const [i, row] of rows.entries()) {
    for (const piece of row) {
      data.set(piece, end);
      end += piece.length;
    }
    offsets[i + 1] = end;
  }
  return { offsets, data };
}

/** Throws RangeError when one column of one record batch is too large; the file may be of any size. */
export function checkBufferBytes(bytes: number, name: string): void {
  if (bytes > MAX_BUFFER_BYTES) {
    throw new RangeError(
      `Expected at most ${MAX_BUFFER_BYTES} bytes of ${name} in one record batch, got ${bytes}; ` +
        "lower max_padded_tokens (datums) or the group size (trajectories)",
    );
  }
}

function validity(values: readonly Maybe<unknown>[]): {
  readonly nullCount: number;
  readonly nullBitmap: Uint8Array | null;
} {
  let nullCount = 0;
  for (let i = 0; i < values.length; i++) if (!isThere(values[i])) nullCount += 1;
  return { nullCount, nullBitmap: nullCount === 0 ? null : bits(values, isThere) };
}

function isThere(value: unknown): boolean {
  return value !== null && value !== undefined;
}

/** One bit per value, least significant first, padded to 8 bytes. */
function bits<T>(values: readonly T[], isSet: (value: T) => boolean): Uint8Array {
  const out = new Uint8Array(Math.ceil(values.length / 64) * 8);
  for (let i = 0; i < values.length; i++) {
    if (isSet(values[i] as T)) out[i >> 3] = (out[i >> 3] ?? 0) | (1 << (i & 7));
  }
  return out;
}
