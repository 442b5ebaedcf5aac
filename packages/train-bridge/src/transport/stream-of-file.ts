/**
 * The Arrow IPC stream of an Arrow IPC file, without decoding it: a file is a magic word, the record batches as a stream
 * has them, and an index, which holds the schema. In: a path. Out: schema message and the bytes of the batches.
 * Refuses a file that is not whole.
 */
import { RecordBatchReader } from "apache-arrow";
import { encodeIpc } from "../encode-ipc.ts";

const MAGIC = "ARROW1";
/** The magic word is padded to eight bytes, so that buffers stay aligned. */
const HEAD = 8;
/** Length of the index, then the magic word. */
const TAIL = 4 + MAGIC.length;
/** What ends a stream, also one without batches; the file's batches end with their own. */
const END_OF_STREAM = 8;

export type ArrowStream = {
  readonly bytes: number;
  /** Read from the disk as they are taken. */
  readonly pieces: () => AsyncIterable<Uint8Array>;
};

/** Nothing but head, tail and schema is read here. Rejects where there is no file, or half of one. */
export async function streamOfFile(path: string): Promise<ArrowStream> {
  const file = Bun.file(path);
  const { size } = file;
  const head = await file.slice(0, MAGIC.length).text();
  const tail = await file.slice(Math.max(0, size - TAIL), size).bytes();
  const end = new TextDecoder().decode(tail.subarray(4));
  if (size < HEAD + TAIL || head !== MAGIC || end !== MAGIC) {
    throw new Error(`Expected ${path} to be a whole Arrow file, got ${size} bytes of another kind`);
  }
  const index = new DataView(tail.buffer, tail.byteOffset).getInt32(0, true);
  if (index < 0 || index > size - HEAD - TAIL) {
    throw new Error(`Expected ${path} to be a whole Arrow file, got an index of ${index} bytes`);
  }
  const { schema } = RecordBatchReader.from(Bun.mmap(path)).open();
  const opening = [...encodeIpc({ schema, batches: [] }, "stream")].flat();
  const message = Buffer.concat(opening).subarray(0, -END_OF_STREAM);
  const batches = file.slice(HEAD, size - TAIL - index);
  return {
    bytes: message.byteLength + size - TAIL - index - HEAD,
    async *pieces() {
      yield message;
      yield* batches.stream();
    },
  };
}
