/**
 * One pre-token to ids by byte pairs. In: the `model` of a tokenizer.json, and its vocabulary.
 * Knows no added tokens; those it must not give are passed in.
 */
import { BYTE_CHARACTERS } from "./byte-characters.ts";
import { createMerger } from "./pair-merger.ts";
import type { JsonObject } from "./tokenizer-json.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** A vocabulary and its way of cutting one pre-token. */
export type WordEncoder = Pick<Vocabulary, "entryOf" | "idOf" | "size"> & {
  /** Appends the ids of one pre-token, which is spelled in the vocabulary's characters. */
  append(ids: number[], word: string): void;
};

export type Bpe = WordEncoder & {
  /** The same for plain text whose UTF-8 bytes are spelled in byte-level characters. */
  appendBytes(ids: number[], text: string): void;
};

/** `control` are entries that are never found and never merged to. */
export function createBpe(
  model: JsonObject,
  vocabulary: Vocabulary,
  control: ReadonlySet<string>,
): Bpe {
  const { entryOf, idOf, size } = vocabulary;
  const find = (entry: string): number => (control.has(entry) ? -1 : (idOf(entry) ?? -1));
  const { unk_token } = model;
  const unknown = typeof unk_token === "string" ? (idOf(unk_token) ?? -1) : -1;
  const fusesUnknown = model["fuse_unk"] === true;
  const merge = createMerger(vocabulary.mergesWithout(control));
  const looksUpWhole = model["ignore_merges"] === true;
  const fallback = model["byte_fallback"] === true ? byteFallback(find) : null;
  const idOfByte = BYTE_CHARACTERS.map(find);

  /** What is not in the vocabulary becomes the unknown token, a run of it one such token when fused. */
  const addSymbol = (symbols: number[], id: number): void => {
    if (id >= 0) symbols.push(id);
    else if (unknown >= 0 && !(fusesUnknown && symbols.at(-1) === unknown)) symbols.push(unknown);
  };
  const appendWhole = (ids: number[], word: string): boolean => {
    const id = looksUpWhole ? find(word) : -1;
    if (id >= 0) ids.push(id);
    return id >= 0;
  };

  return {
    append(ids, word) {
      if (appendWhole(ids, word)) return;
      const symbols: number[] = [];
      for (const character of word) {
        const id = find(character);
        const bytes = id < 0 && fallback !== null ? fallback(character) : null;
        if (bytes === null) addSymbol(symbols, id);
        else symbols.push(...bytes);
      }
      merge(ids, symbols);
    },
    appendBytes(ids, text) {
      const bytes = utf8.encode(text);
      if (looksUpWhole && appendWhole(ids, spell(bytes))) return;
      const symbols: number[] = [];
      for (const byte of bytes) addSymbol(symbols, idOfByte[byte] as number);
      merge(ids, symbols);
    },
    entryOf,
    idOf,
    size,
  };
}

const utf8 = new TextEncoder();

function spell(bytes: Uint8Array): string {
  let word = "";
  for (const byte of bytes) word += BYTE_CHARACTERS[byte];
  return word;
}

/** The entries `<0x00>` … of a character's bytes; null unless all of them are there. */
function byteFallback(find: (entry: string) => number): (text: string) => number[] | null {
  const ids = Array.from({ length: 256 }, (_, byte) =>
    find(`<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`),
  );
  return (text) => {
    const found = Array.from(utf8.encode(text), (byte) => ids[byte] as number);
    return found.includes(-1) ? null : found;
  };
}
