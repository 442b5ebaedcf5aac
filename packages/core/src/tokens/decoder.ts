/**
 * Ids to text. Also incrementally: what a stream has emitted is never changed by later ids.
 * Ids without an entry decode to nothing.
 */
import { createByteDecoder } from "./byte-decoder.ts";
import { tokenPiece, type TextForm, type TokenPiece } from "./text-form.ts";

export type TokenDecoder = {
  /** Any ids, none included. Bytes that are no UTF-8 become U+FFFD. */
  decode(ids: ArrayLike<number>): string;
  stream(): DecodeStream;
};

export type DecodeStream = {
  /** Text that is certain by now; a character whose bytes are incomplete waits. */
  push(ids: ArrayLike<number>): string;
  /** What waited. */
  end(): string;
};

/** What a decoder knows of its tokenizer. */
export type Entries = {
  readonly form: TextForm;
  readonly vocabSize: number;
  /** The vocabulary entry of an id; null where there is none. */
  readonly entryOf: (id: number) => string | null;
};

/** The ids of `skip` decode to nothing, as if they were not there. */
export function createDecoder(entries: Entries, skip: ReadonlySet<number>): TokenDecoder {
  const { form, vocabSize, entryOf } = entries;
  const spell = (id: number): TokenPiece => {
    const entry = id >= 0 && id < vocabSize && !skip.has(id) ? entryOf(id) : null;
    return entry === null ? "" : tokenPiece(form, entry);
  };
  // Bytes have their own table; streams of them are for people, who read slowly.
  const pieceOf = form.kind === "text" ? remember(spell, vocabSize) : spell;

  const stream = (): DecodeStream => {
    let waiting: number[] = [];
    let isFirst = form.kind === "text" && form.dropFromFirst !== null;
    let toStrip = form.kind === "text" ? (form.stripStart?.count ?? 0) : 0;

    const release = (bytes: number[]): string =>
      form.kind === "byte_level" ? decodeLossy(bytes) : decodeWhole(bytes);

    const read = (ids: ArrayLike<number>): string => {
      let out = "";
      for (let i = 0; i < ids.length; i++) {
        const id = ids[i] as number;
        let piece = pieceOf(id);
        if (isFirst && piece !== "") {
          isFirst = false;
          piece = firstPiece(form, entryOf(id) ?? "", piece);
        }
        if (typeof piece === "string") {
          if (piece === "") continue;
          if (waiting.length > 0) {
            out += release(waiting);
            waiting = [];
          }
          out += piece;
        } else {
          for (const byte of piece) waiting.push(byte);
        }
      }
      return out;
    };

    /** Takes the leading marks off the beginning of the whole text. */
    const trimStart = (text: string): string => {
      if (toStrip === 0 || text === "" || form.kind !== "text") return text;
      const mark = form.stripStart?.text ?? "";
      let rest = text;
      while (toStrip > 0 && rest !== "") {
        if (!rest.startsWith(mark)) {
          toStrip = 0;
          break;
        }
        rest = rest.slice(mark.length);
        toStrip--;
      }
      return rest;
    };

    return {
      push(ids) {
        let out = read(ids);
        if (waiting.length > 0 && form.kind === "byte_level") {
          const keep = incompleteTail(waiting);
          out += decodeLossy(waiting.slice(0, waiting.length - keep));
          waiting = keep === 0 ? [] : waiting.slice(waiting.length - keep);
        }
        return trimStart(out);
      },
      end() {
        const out = waiting.length > 0 ? release(waiting) : "";
        waiting = [];
        return trimStart(out);
      },
    };
  };

  if (form.kind === "byte_level") return { stream, decode: createByteDecoder(vocabSize, spell) };
  return {
    stream,
    decode(ids) {
      const one = stream();
      return one.push(ids) + one.end();
    },
  };
}

/** By a table that is filled as ids are met; ids outside the vocabulary are not kept. */
function remember(
  spell: (id: number) => TokenPiece,
  vocabSize: number,
): (id: number) => TokenPiece {
  const known = Array.from<TokenPiece | undefined>({ length: vocabSize }).fill(undefined);
  return (id) => {
    const piece = known[id] ?? spell(id);
    if (id >= 0 && id < vocabSize) known[id] = piece;
    return piece;
  };
}

/** The first token of a text loses its word marks. */
function firstPiece(form: TextForm, entry: string, piece: TokenPiece): TokenPiece {
  if (form.kind !== "text" || form.dropFromFirst === null || typeof piece !== "string")
    return piece;
  return tokenPiece(form, entry.replaceAll(form.dropFromFirst, ""));
}

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decodeLossy(bytes: readonly number[]): string {
  return bytes.length === 0 ? "" : utf8.decode(Uint8Array.from(bytes));
}

/** A run of fallback bytes is text, or one U+FFFD for each byte of it. */
function decodeWhole(bytes: readonly number[]): string {
  try {
    return strictUtf8.decode(Uint8Array.from(bytes));
  } catch {
    return "\ufffd".repeat(bytes.length);
  }
}

/** Bytes at the end that later bytes may still complete: from a lead byte whose sequence is short. */
function incompleteTail(bytes: readonly number[]): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] as number;
    if (byte < 0x80) return 0;
    if (byte < 0xc0) continue;
    const wanted = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return back < wanted ? back : 0;
  }
  return 0;
}
