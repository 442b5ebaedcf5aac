/**
 * In: one record batch. Out: its message of Arrow IPC, byte for byte as the library writes it, in few pieces: large
 * columns as they lie, all that is small put together. The library makes an object of every number, each time anew.
 * Refuses a batch without rows, and columns that are slices.
 */
import type { Data } from "apache-arrow";
import type { ColumnBatch } from "./record-batch.ts";

export type BatchMessage = {
  /** Prefix and metadata, then the body: what a file's index says of it. Both are multiples of 8. */
  readonly metadataBytes: number;
  readonly bodyBytes: number;
  readonly pieces: readonly Uint8Array[];
};

/** From here on a buffer is a piece of its own: a piece costs a system call as much as copying some thousand bytes. */
const LARGE_BYTES = 4096;

const CONTINUATION = -1;
const PREFIX_BYTES = 8;
const ALIGNMENT = 8;
/** Two int64: values and nulls of a column, or offset and length of a buffer. */
const STRUCT_BYTES = 16;

/**
 * Tables Message and RecordBatch up to their lists, as 32-bit words; a flatbuffer has its places fixed where nothing
 * is left out. 0 = set for each batch.
 */
const HEAD = Int32Array.of(
  20, // root: Message at 20
  0, // padding
  0x0016_000c, // its vtable: 12 bytes, of a table of 22
  0x000f_0014, // version at +20, header_type at +15
  0x0004_0010, // header at +16, body_length at +4
  12, // Message: vtable 12 bytes before
  0, // body_length
  0,
  0x0300_0000, // header_type: RecordBatch
  16, // header: 16 bytes further
  0x000a_0004, // version: V5; vtable of RecordBatch: 10 bytes …
  0x000c_0018, // … of a table of 24; length at +12
  0x0004_0008, // nodes at +8, buffers at +4
  10, // RecordBatch: vtable 10 bytes before
  20, // buffers: 20 bytes further
  0, // nodes
  0, // length
  0,
  0, // padding
);
const HEAD_BYTES = HEAD.byteLength;
const BODY_LENGTH_AT = 24;
const NODES_AT = 60;
const LENGTH_AT = 64;

export function encodeBatch(batch: ColumnBatch): BatchMessage {
  if (batch.rows === 0) throw new RangeError("Expected a record batch with rows, got none");
  const parts: Parts = { nodes: [], buffers: [] };
  for (const column of batch.columns) addColumn(column, parts);
  const { nodes, buffers } = parts;
  const metadataBytes =
    PREFIX_BYTES + HEAD_BYTES + 12 + (buffers.length + nodes.length) * STRUCT_BYTES;
  let bodyBytes = 0;
  let smallBytes = metadataBytes;
  for (const { byteLength } of buffers) {
    bodyBytes += pad(byteLength);
    smallBytes += byteLength < LARGE_BYTES ? pad(byteLength) : pad(byteLength) - byteLength;
  }
  const small = new Uint8Array(smallBytes);
  writeMetadata(new DataView(small.buffer, 0, metadataBytes), batch.rows, parts, bodyBytes);
  const pieces: Uint8Array[] = [];
  let start = 0;
  let end = metadataBytes;
  for (const buffer of buffers) {
    const { byteLength } = buffer;
    if (byteLength < LARGE_BYTES) {
      small.set(bytesOf(buffer), end);
      end += pad(byteLength);
    } else {
      pieces.push(small.subarray(start, end), bytesOf(buffer));
      start = end;
      end += pad(byteLength) - byteLength;
    }
  }
  if (end > start) pieces.push(small.subarray(start, end));
  return { metadataBytes, bodyBytes, pieces };
}

type Parts = {
  readonly nodes: { readonly length: number; readonly nullCount: number }[];
  readonly buffers: ArrayBufferView[];
};

/** Depth first, each column's validity, offsets and values, as the format orders them. */
function addColumn(column: Data, parts: Parts): void {
  const { length, nullCount, offset } = column;
  if (offset !== 0) throw new RangeError(`Expected a whole column, got a slice from ${offset}`);
  parts.nodes.push({ length, nullCount });
  parts.buffers.push(nullCount === 0 ? NOTHING : column.nullBitmap);
  const offsets = column.valueOffsets as ArrayBufferView | undefined;
  const values = column.values as ArrayBufferView | undefined;
  if (offsets !== undefined) parts.buffers.push(offsets);
  if (values !== undefined) parts.buffers.push(values);
  for (const child of column.children) addColumn(child, parts);
}

/** Prefix, head, the list of buffers, the list of nodes; both have their length before them, the second one at +4. */
function writeMetadata(view: DataView, rows: number, parts: Parts, bodyBytes: number): void {
  const { nodes, buffers } = parts;
  const buffersAt = PREFIX_BYTES + HEAD_BYTES;
  const nodesAt = buffersAt + 4 + buffers.length * STRUCT_BYTES + 4;
  view.setInt32(0, CONTINUATION, true);
  view.setInt32(4, view.byteLength - PREFIX_BYTES, true);
  for (let i = 0; i < HEAD.length; i++) {
    view.setInt32(PREFIX_BYTES + 4 * i, HEAD[i] as number, true);
  }
  setLong(view, PREFIX_BYTES + BODY_LENGTH_AT, bodyBytes);
  setLong(view, PREFIX_BYTES + LENGTH_AT, rows);
  view.setInt32(PREFIX_BYTES + NODES_AT, nodesAt - PREFIX_BYTES - NODES_AT, true);
  view.setInt32(buffersAt, buffers.length, true);
  view.setInt32(nodesAt, nodes.length, true);
  let offset = 0;
  for (const [i, { byteLength }] of buffers.entries()) {
    setLong(view, buffersAt + 4 + i * STRUCT_BYTES, offset);
    setLong(view, buffersAt + 12 + i * STRUCT_BYTES, pad(byteLength));
    offset += pad(byteLength);
  }
  for (const [i, { length, nullCount }] of nodes.entries()) {
    setLong(view, nodesAt + 4 + i * STRUCT_BYTES, length);
    setLong(view, nodesAt + 12 + i * STRUCT_BYTES, nullCount);
  }
}

const NOTHING = new Uint8Array(0);

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function pad(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
}

/** A whole number below 2^53 as int64. */
function setLong(view: DataView, at: number, value: number): void {
  view.setUint32(at, value, true);
  view.setUint32(at + 4, Math.floor(value / 2 ** 32), true);
}
