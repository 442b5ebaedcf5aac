/**
 * Ids of a byte-level vocabulary to text: what each id spells lies side by side as UTF-8, a text's bytes are copied
 * together and read at once. Strings joined id by id cost four times as much, and leave a string for every id.
 * In: ids. Out: text; bytes that are no UTF-8 become U+FFFD. Ids without an entry spell nothing.
 */
import type { TokenPiece } from "./text-form.ts";

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
const encoder = new TextEncoder();

/** Shared: one text at a time. */
let text = new Uint8Array(1 << 14);

const UNKNOWN = -1;

/** `pieceOf` is asked once for each id that is met. */
export function createByteDecoder(
  vocabSize: number,
  pieceOf: (id: number) => TokenPiece,
): (ids: ArrayLike<number>) => string {
  const starts = new Int32Array(vocabSize);
  const lengths = new Int32Array(vocabSize).fill(UNKNOWN);
  let spelled = new Uint8Array(1 << 12);
  let used = 0;

  /** The length of what an id spells, which is then known. */
  const learn = (id: number): number => {
    const piece = pieceOf(id);
    const bytes = typeof piece === "string" ? encoder.encode(piece) : piece;
    if (used + bytes.length > spelled.length) spelled = grown(spelled, used + bytes.length);
    spelled.set(bytes, used);
    starts[id] = used;
    lengths[id] = bytes.length;
    used += bytes.length;
    return bytes.length;
  };

  return (ids) => {
    let end = 0;
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i] as number;
      let length = lengths[id] ?? 0;
      if (length === UNKNOWN) length = learn(id);
      if (end + length > text.length) text = grown(text, end + length);
      const start = starts[id] as number;
      for (let k = start; k < start + length; k++) text[end++] = spelled[k] as number;
    }
    return utf8.decode(text.subarray(0, end));
  };
}

function grown(bytes: Uint8Array<ArrayBuffer>, size: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(2 * size);
  larger.set(bytes);
  return larger;
}
