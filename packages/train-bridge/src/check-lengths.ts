/**
 * Damaged Arrow bytes can name lengths of billions, over which the library loops for hours. In: bytes of a file or a
 * stream. Out: nothing, or an error that says which length cannot be. Every list of the metadata is held against the
 * bytes that it would need, every offset against its values. The layout is that of Arrow's Message, Schema and Footer tables.
 */

import type { Data, RecordBatch } from "apache-arrow";

const FILE_MAGIC = "ARROW1";
const MAGIC_BYTES = 8;
const FOOTER_TAIL = 10;
const CONTINUATION = -1;
const BLOCK_BYTES = 24;
/** Sizes of structs and of references in lists. */
const STRUCT_16 = 16;
const REFERENCE = 4;
const MOST_TABLES = 100_000;
const DICTIONARY_BATCH = 2;
const RECORD_BATCH = 3;

/** Throws one sentence. */
export function checkArrowLengths(bytes: Uint8Array): void {
  const walk = createWalk(bytes);
  const magic = new TextDecoder("latin1").decode(bytes.subarray(0, FILE_MAGIC.length));
  if (magic === FILE_MAGIC) checkFile(walk);
  else checkMessages(walk, 0, walk.size);
}

type Walk = {
  readonly size: number;
  /** Throw outside the bytes. */
  readonly int32: (at: number) => number;
  readonly int64: (at: number) => number;
  /** Place of a table's field, or null where it is absent. */
  readonly field: (table: number, index: number) => number | null;
  readonly target: (at: number) => number;
  /** Places of a list's items, each of so many bytes. */
  readonly list: (at: number | null, itemBytes: number) => { start: number; length: number };
};

function createWalk(bytes: Uint8Array): Walk {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = bytes.byteLength;
  let tables = 0;
  const within = (at: number, width: number): number => {
    if (at < 0 || at + width > size) throw damaged(`position ${at}`, size);
    return at;
  };
  const int32 = (at: number): number => view.getInt32(within(at, 4), true);
  const target = (at: number): number => at + view.getUint32(within(at, 4), true);
  return {
    size,
    int32,
    int64: (at) => Number(view.getBigInt64(within(at, 8), true)),
    target,
    field(table, index) {
      tables += 1;
      if (tables > MOST_TABLES) throw damaged(`more than ${MOST_TABLES} tables`, size);
      const vtable = table - int32(table);
      const place = 4 + 2 * index;
      if (place + 2 > view.getUint16(within(vtable, 2), true)) return null;
      const offset = view.getUint16(within(vtable + place, 2), true);
      return offset === 0 ? null : table + offset;
    },
    list(at, itemBytes) {
      if (at === null) return { start: 0, length: 0 };
      const start = target(at);
      const length = int32(start);
      if (length < 0 || start + 4 + length * itemBytes > size) {
        throw damaged(`a list of ${length} items`, size);
      }
      return { start: start + 4, length };
    },
  };
}

function checkFile(walk: Walk): void {
  const end = walk.size - FOOTER_TAIL;
  const footerBytes = walk.int32(end);
  const start = end - footerBytes;
  if (footerBytes <= 0 || start < MAGIC_BYTES) {
    throw damaged(`a footer of ${footerBytes} bytes`, walk.size);
  }
  const footer = walk.target(start);
  const schema = walk.field(footer, 1);
  if (schema !== null) checkSchema(walk, walk.target(schema));
  // A file is read by its footer: between the batches may lie anything (polars pads before the first).
  // The library asks again and again for a batch whose message is none.
  for (const [index, kind] of [
    [2, DICTIONARY_BATCH],
    [3, RECORD_BATCH],
  ] as const) {
    const { start: first, length } = walk.list(walk.field(footer, index), BLOCK_BYTES);
    for (let i = 0; i < length; i++) {
      const at = walk.int64(first + i * BLOCK_BYTES);
      const seen = checkMessage(walk, at)?.kind ?? 0;
      if (seen !== kind) throw damaged(`no batch at ${at}, as its footer says,`, walk.size);
    }
  }
}

/** One behind the other, as the library reads them: every one ends after it begins, so the walk ends. */
function checkMessages(walk: Walk, start: number, end: number): void {
  let at = start;
  while (at + 4 <= end) {
    const message = checkMessage(walk, at);
    if (message === null) return;
    at = message.end;
  }
}

/** Its kind, and the place after its body; null = the stream's end. */
function checkMessage(walk: Walk, at: number): { kind: number; end: number } | null {
  const isMarked = walk.int32(at) === CONTINUATION;
  const start = isMarked ? at + 8 : at + 4;
  const metadataBytes = walk.int32(isMarked ? at + 4 : at);
  if (metadataBytes === 0) return null;
  if (metadataBytes < 0 || start + metadataBytes > walk.size) {
    throw damaged(`a message of ${metadataBytes} bytes`, walk.size);
  }
  const message = walk.target(start);
  const kindAt = walk.field(message, 1);
  const kind = kindAt === null ? 0 : walk.int32(kindAt) & 0xff;
  const header = walk.field(message, 2);
  if (header !== null) checkHeader(walk, kind, walk.target(header));
  const body = walk.field(message, 3);
  const bodyBytes = body === null ? 0 : walk.int64(body);
  if (bodyBytes < 0 || bodyBytes > walk.size)
    throw damaged(`a body of ${bodyBytes} bytes`, walk.size);
  return { kind, end: start + metadataBytes + bodyBytes };
}

function checkHeader(walk: Walk, kind: number, header: number): void {
  if (kind === 1) checkSchema(walk, header);
  if (kind !== RECORD_BATCH) return;
  const rows = walk.field(header, 0);
  if (rows !== null) checkRows(walk, walk.int64(rows));
  const { start, length } = walk.list(walk.field(header, 1), STRUCT_16);
  for (let i = 0; i < length; i++) checkRows(walk, walk.int64(start + i * STRUCT_16));
  walk.list(walk.field(header, 2), STRUCT_16);
}

/** A value takes a bit at least. */
function checkRows(walk: Walk, rows: number): void {
  if (rows < 0 || rows > 8 * walk.size) throw damaged(`${rows} values`, walk.size);
}

function checkSchema(walk: Walk, schema: number): void {
  checkFields(walk, walk.field(schema, 1));
  walk.list(walk.field(schema, 2), REFERENCE);
}

function checkFields(walk: Walk, at: number | null): void {
  const { start, length } = walk.list(at, REFERENCE);
  for (let i = 0; i < length; i++) {
    const field = walk.target(start + i * REFERENCE);
    checkFields(walk, walk.field(field, 5));
    walk.list(walk.field(field, 6), REFERENCE);
  }
}

function damaged(what: string, size: number): Error {
  return new Error(`Expected whole Arrow data, seen ${what} in ${size} bytes: it is damaged`);
}

/** Offsets of lists and texts rise and end within their values; throws one sentence that names the column. */
export function checkOffsets({ schema, data }: RecordBatch): void {
  for (const [i, { name }] of schema.fields.entries()) {
    const column = data.children[i];
    checkColumn(name, column ?? null);
  }
}

/** A table without rows has columns without data. */
function checkColumn(name: string, column: Data | null): void {
  if (column === null) return;
  const { valueOffsets, children, length } = column;
  const offsets = valueOffsets as ArrayLike<number | bigint> | undefined;
  if (offsets !== undefined && length > 0 && offsets.length > length) {
    const values = column.values as ArrayLike<unknown> | undefined;
    const end = children[0]?.length ?? values?.length ?? 0;
    let last = 0;
    for (let i = 0; i <= length; i++) {
      const offset = Number(offsets[i]);
      if (offset < last || offset > end) {
        throw new Error(
          `Expected offsets of ${name} to rise from ${last} to at most ${end}, seen ${offset}: the data is damaged`,
        );
      }
      last = offset;
    }
  }
  for (const [i, child] of children.entries()) {
    checkColumn(`${name}.${column.type.children?.[i]?.name ?? i}`, child ?? null);
  }
}
