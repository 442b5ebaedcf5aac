/**
 * One model's tokenizer: text to ids, ids to text.
 * In: the parsed files of a Hugging Face tokenizer. Out: pure, synchronous functions (what they
 * remember only makes them faster). Knows nothing of chat templates or turns; reads no files.
 */
import { createMatcher, type AddedToken } from "./added-tokens.ts";
import { createDecoder, type TokenDecoder } from "./decoder.ts";
import { tokenizerFingerprint } from "./fingerprint.ts";
import { openPackedTokenizer } from "./packed-tokenizer.ts";
import { createPlainEncoder } from "./plain-encoder.ts";
import { createTextEncoding, type TextEncoding } from "./text-encoder.ts";
import { refuse } from "./refuse.ts";
import { readTokenizerFiles, type TokenizerFiles, type TokenizerSpec } from "./tokenizer-json.ts";

export type Tokenizer = TextEncoding & {
  /** Highest id that the files name, plus one. The model's output may have more rows. */
  readonly vocabSize: number;
  readonly addedTokens: readonly AddedToken[];
  /** The id of `eos_token`; empty when the tokenizer names none. */
  readonly eosIds: readonly number[];
  /** `bos_token`, `eos_token` …, those that are set: a template may ask for them. */
  readonly specialTexts: Readonly<Record<string, string>>;
  /** From its own file, or from the config; null = the model comes without one. */
  readonly chatTemplate: string | null;
  /** Trusted text: every added token is recognised; none is put in front. */
  encode(text: string): Int32Array;
  /** Special tokens left out, nothing cleaned up: `decode(ids, skip_special_tokens=True)`. */
  decode(ids: ArrayLike<number>): string;
  /** A decoder that leaves out exactly the ids of `skip`. Keep it: it fills a table. */
  decoder(skip: Iterable<number>): TokenDecoder;
  /** Id of an added token or of a vocabulary entry as the file spells it; null = there is none. */
  idOf(entry: string): number | null;
  /** The entry of an id as the file spells it; null = no entry. */
  entryOf(id: number): string | null;
  /** SHA-256 of what decides ids and text (model, added tokens, steps), in canonical JSON. Slow unless packed: once per run. */
  fingerprint(): Promise<string>;
};

/** Throws one sentence when the files cannot be used. */
export function loadTokenizer(files: TokenizerFiles): Tokenizer {
  const spec = readTokenizerFiles(files);
  return createTokenizer(spec, () => tokenizerFingerprint(spec.json));
}

/** The same from bytes of `packTokenizer`, which must be whole; null = they are of another version. */
export function loadPackedTokenizer(
  packed: Uint8Array,
  files: Omit<TokenizerFiles, "tokenizer">,
): Tokenizer | null {
  const opened = openPackedTokenizer(packed);
  if (opened === null) return null;
  const { json, vocabulary, fingerprint } = opened;
  const spec = readTokenizerFiles({ ...files, tokenizer: json }, vocabulary);
  return createTokenizer(spec, () => Promise.resolve(fingerprint));
}

function createTokenizer(spec: TokenizerSpec, fingerprint: Tokenizer["fingerprint"]): Tokenizer {
  const plain = createPlainEncoder(spec);
  const encoding = createTextEncoding(plain, createMatcher(spec.added));

  const addedById = new Map(spec.added.map((token) => [token.id, token.content]));
  const addedByText = new Map(spec.added.map((token) => [token.content, token.id]));
  const vocabSize = spec.added.reduce((size, { id }) => Math.max(size, id + 1), plain.size);
  const idOf = (entry: string): number | null => addedByText.get(entry) ?? plain.idOf(entry);
  const entryOf = (id: number): string | null => addedById.get(id) ?? plain.entryOf(id);
  const decoder = (skip: Iterable<number>): TokenDecoder =>
    createDecoder({ form: spec.textForm, vocabSize, entryOf }, new Set(skip));
  const withoutSpecial = decoder(spec.added.filter((t) => t.isSpecial).map((t) => t.id));

  const eosText = spec.specialTexts["eos_token"];
  const eosId = eosText === undefined ? null : idOf(eosText);
  if (eosText !== undefined && eosId === null) {
    throw refuse("expected eos_token of tokenizer_config.json to be in the vocabulary", eosText);
  }

  return {
    ...encoding,
    vocabSize,
    addedTokens: spec.added,
    eosIds: eosId === null ? [] : [eosId],
    specialTexts: spec.specialTexts,
    chatTemplate: spec.chatTemplate,
    encode: (text) => encoding.encodePieces([{ trusted: true, text }]),
    decode: (ids) => withoutSpecial.decode(ids),
    decoder,
    idOf,
    entryOf,
    fingerprint,
  };
}
