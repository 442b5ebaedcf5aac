/**
 * In: a schema and batches. Out: the bytes of an Arrow IPC file or stream, in pieces: views of the columns as they lie.
 * Refuses compression: the library writes a wrong length before compressed buffers.
 */
import {
  AsyncByteQueue,
  RecordBatchFileWriter,
  RecordBatchStreamWriter,
  type Schema,
} from "apache-arrow";
import { encodeBatch } from "./encode-batch.ts";
import type { ColumnBatch } from "./record-batch.ts";

/** A schema and its batches, made when asked for. */
export type ArrowTable = { readonly schema: Schema; readonly batches: Iterable<ColumnBatch> };

/** `file` has an index at its end, for disk; `stream` can be read while it is written, for pipes and sockets. */
export type IpcFormat = "file" | "stream";

/** One list of pieces per record batch, then one with the end. Pieces are valid until the next is asked for. */
export function* encodeIpc(table: ArrowTable, format: IpcFormat): Generator<readonly Uint8Array[]> {
  const writer = format === "file" ? new RecordBatchFileWriter() : new RecordBatchStreamWriter();
  // The writer's own queue can only be drained asynchronously or by copying; ours is a list.
  let pieces: Uint8Array[] = [];
  const sink = new AsyncByteQueue();
  sink.write = (piece) => {
    if (ArrayBuffer.isView(piece)) {
      pieces.push(new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength));
    }
  };
  writer.reset(sink, table.schema);
  let offset = pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);
  for (const batch of table.batches) {
    const message = encodeBatch(batch);
    const { metadataBytes: metaDataLength, bodyBytes: bodyLength } = message;
    // What the library keeps of a batch for the index.
    writer["_recordBatchBlocks"].push({ offset, metaDataLength, bodyLength });
    offset += metaDataLength + bodyLength;
    pieces.push(...message.pieces);
    yield pieces;
    pieces = [];
  }
  writer.close();
  yield pieces;
}
