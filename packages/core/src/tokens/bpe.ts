/**
 * A byte-pair vocabulary: one pre-token to ids. In: the `model` of a tokenizer.json.
 * Knows no added tokens; those it must not give are passed in.
 */
import { BYTE_CHARACTERS } from "./byte-characters.ts";
import { createMerger } from "./pair-merger.ts";
import { refuse } from "./refuse.ts";
import type { JsonObject } from "./tokenizer-json.ts";

/** A vocabulary and its way of cutting one pre-token. */
export type WordEncoder = {
  /** Appends the ids of one pre-token, which is spelled in the vocabulary's characters. */
  append(ids: number[], word: string): void;
  /** The entry of an id; null where there is none. */
  entryOf(id: number): string | null;
  idOf(entry: string): number | null;
  /** Highest id + 1. */
  readonly size: number;
};

export type Bpe = WordEncoder & {
  /** The same for plain text whose UTF-8 bytes are spelled in byte-level characters. */
  appendBytes(ids: number[], text: string): void;
};

/** `control` are entries that are never found and never merged to. */
export function createBpe(model: JsonObject, control: ReadonlySet<string>): Bpe {
  const { vocab, merges } = checkModel(model);
  const entries = invert(vocab);
  const idOf = (entry: string): number | null => {
    // Not every name that an object answers to is an entry: "constructor" gives a function.
    const id = vocab[entry];
    return typeof id === "number" ? id : null;
  };
  const find = (entry: string): number => (control.has(entry) ? -1 : (idOf(entry) ?? -1));
  const { unk_token } = model;
  const unknown = typeof unk_token === "string" ? (idOf(unk_token) ?? -1) : -1;
  const fusesUnknown = model["fuse_unk"] === true;
  const merge = createMerger(merges, entries, find);
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
    entryOf: (id) => entries[id] ?? null,
    idOf,
    size: entries.length,
  };
}

type Vocab = Readonly<Record<string, unknown>>;

function checkModel(model: JsonObject): {
  readonly vocab: Vocab;
  readonly merges: readonly unknown[];
} {
  const { vocab, merges, continuing_subword_prefix: prefix, end_of_word_suffix: suffix } = model;
  if (!Array.isArray(merges)) throw refuse('expected a list under "model.merges"', merges);
  if ((prefix ?? "") !== "" || (suffix ?? "") !== "") {
    throw refuse("expected byte pairs without marks inside or at the end of words", {
      continuing_subword_prefix: prefix,
      end_of_word_suffix: suffix,
    });
  }
  return { vocab: vocab as Vocab, merges };
}

/** Entries by id; undefined where an id has none. */
function invert(vocab: Vocab): readonly (string | undefined)[] {
  const pairs = Object.entries(vocab);
  let size = 0;
  for (const [entry, id] of pairs) {
    if (typeof id !== "number" || !Number.isInteger(id) || id < 0 || id >= LARGEST_VOCAB) {
      throw refuse(`expected the id of every entry to be from 0 to ${LARGEST_VOCAB - 1}`, {
        [entry]: id,
      });
    }
    if (id >= size) size = id + 1;
  }
  const entries = Array.from<string | undefined>({ length: size }).fill(undefined);
  for (const [entry, id] of pairs) entries[id as number] = entry;
  return entries;
}

const LARGEST_VOCAB = 1 << 24;

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
