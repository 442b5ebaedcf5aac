/**
 * What single ids contribute to a text. In: a tokenizer. Out: an id's characters, or its bytes where it holds a part of
 * one, so that a page shows what was sampled and no replacement characters.
 */
import type { Tokenizer } from "@interlace/core";

export type Piece =
  | { readonly type: "text"; readonly text: string }
  /** An added token: a control token is never the text that it is written like. */
  | { readonly type: "added"; readonly text: string }
  /** Parts of characters, which neighbours complete; null = only the id is known. */
  | { readonly type: "bytes"; readonly bytes: Uint8Array | null }
  /** No entry: models have more rows than their tokenizers name. */
  | { readonly type: "unnamed" };

export type TokenTexts = { readonly pieceOf: (id: number) => Piece };

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function createTokenTexts(tokenizer: Tokenizer): TokenTexts {
  const decoder = tokenizer.decoder([]);
  const added = new Map(tokenizer.addedTokens.map(({ id, content }) => [id, content]));
  const known = new Map<number, Piece>();
  // Not the first of its text: word marks of a first token are dropped.
  const before = tokenizer.encode("a");
  let alphabet: ReadonlyMap<string, number> | null = null;

  const read = (id: number): Piece => {
    const name = added.get(id);
    if (name !== undefined) return { type: "added", text: name };
    const entry = id >= 0 && id < tokenizer.vocabSize ? tokenizer.entryOf(id) : null;
    if (entry === null) return { type: "unnamed" };
    const stream = decoder.stream();
    stream.push(before);
    const text = stream.push([id]) + stream.end();
    if (!text.includes("\ufffd")) return { type: "text", text };
    alphabet ??= learnAlphabet(tokenizer);
    const bytes = bytesOf(entry, alphabet);
    // U+FFFD can be what the model wrote.
    return bytes !== null && isWhole(bytes) ? { type: "text", text } : { type: "bytes", bytes };
  };
  return {
    pieceOf(id) {
      const seen = known.get(id);
      if (seen !== undefined) return seen;
      const piece = read(id);
      known.set(id, piece);
      return piece;
    },
  };
}

/** The characters that a run of byte pieces makes; null = none, or not only whole ones. */
export function joinBytes(parts: readonly (Uint8Array | null)[]): string | null {
  const bytes = parts.flatMap((part) => (part === null ? [] : [...part]));
  const isKnown = parts.every((part) => part !== null);
  try {
    return isKnown && bytes.length > 0 ? strictUtf8.decode(Uint8Array.from(bytes)) : null;
  } catch {
    return null;
  }
}

function isWhole(bytes: Uint8Array): boolean {
  return joinBytes([bytes]) !== null;
}

function bytesOf(entry: string, alphabet: ReadonlyMap<string, number>): Uint8Array | null {
  const fallback = /^<0x([0-9A-Fa-f]{2})>$/.exec(entry)?.[1];
  if (fallback !== undefined) return Uint8Array.of(Number.parseInt(fallback, 16));
  const bytes = Array.from(entry, (letter) => alphabet.get(letter));
  return bytes.every((byte) => byte !== undefined) ? Uint8Array.from(bytes) : null;
}

/**
 * Which byte a letter of a byte-level vocabulary stands for, asked of the tokenizer itself: characters' UTF-8 beside the
 * entries that they are encoded to. Bytes that no UTF-8 has are not learned.
 */
function learnAlphabet(tokenizer: Tokenizer): ReadonlyMap<string, number> {
  const alphabet = new Map<string, number>();
  for (const char of probes()) {
    const ids = tokenizer.encode(char);
    // A normaliser may have changed it.
    if (tokenizer.decode(ids) !== char) continue;
    const letters = Array.from(ids, (id) => tokenizer.entryOf(id) ?? "").join("");
    const bytes = new TextEncoder().encode(char);
    if (letters.length !== bytes.length) continue;
    for (const [i, byte] of bytes.entries()) alphabet.set(letters[i] ?? "", byte);
  }
  return alphabet;
}

/** Every byte that UTF-8 has. */
function* probes(): Generator<string> {
  for (let code = 0x20; code < 0x800; code++) yield String.fromCodePoint(code);
  for (let lead = 0; lead < 16; lead++) {
    // Not U+D800 and its like: the highest characters of each lead byte, surrogates left out.
    for (const low of [0x800, 0x801, 0x7ff]) {
      const code = lead * 0x1000 + low;
      if (code >= 0x800 && (code < 0xd800 || code > 0xdfff)) yield String.fromCodePoint(code);
    }
  }
  for (const code of [0x1_f600, 0x4_0000, 0x8_0000, 0xc_0000, 0x10_0000]) {
    yield String.fromCodePoint(code);
  }
}
