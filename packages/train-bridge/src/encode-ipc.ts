/**
 * In: a schema and batches. Out: the bytes of an Arrow IPC file or stream, in pieces: views of the columns as they lie.
 * Refuses compression: the library writes a wrong length before compressed buffers.
 */
import { AsyncByteQueue, RecordBatchFileWriter, RecordBatchStreamWriter } from "apache-arrow";
import type { ArrowTable } from "./datum-batches.ts";

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
  for (const batch of table.batches) {
    writer.write(batch);
    yield pieces;
    pieces = [];
  }
  writer.close();
  yield pieces;
}
