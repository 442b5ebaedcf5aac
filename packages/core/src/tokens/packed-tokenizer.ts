/**
 * A tokenizer.json made once into bytes that load in a fraction of the time. In: its parsed content. Out: bytes: what
 * the file says but for its lists, its fingerprint, its vocabulary. Good for this version's reader alone: a file to
 * keep beside the original, never one to pass on.
 */
import { openVocabulary, packVocabulary } from "./packed-vocabulary.ts";
import { asObject, modelTypeOf, type JsonObject } from "./tokenizer-json.ts";
import type { Vocabulary } from "./vocabulary.ts";

export type PackedTokenizer = {
  /** Without the vocabulary and the merges of its model. */
  readonly json: JsonObject;
  readonly vocabulary: Vocabulary;
  readonly fingerprint: string;
};

/** Changes with the layout, and whenever other bytes would be made of the same file. */
const FORMAT = 0x49_4c_54_01;
const HEAD = 2;

/**
 * Of a tokenizer.json that `loadTokenizer` has taken, with the fingerprint that it gave. null = of a kind that is not
 * packed.
 */
export function packTokenizer(tokenizer: unknown, fingerprint: string): Uint8Array | null {
  const json = asObject(tokenizer);
  const model = asObject(json?.["model"]);
  if (json === null || model === null || modelTypeOf(model) !== "BPE") return null;
  const vocabulary = packVocabulary(model);
  if (vocabulary === null) return null;
  const { vocab: _, merges: __, ...settings } = model;
  const rest = { ...json, model: { ...settings, type: "BPE" } };
  const head = encode({ json: rest, fingerprint });
  const bytes = new Uint8Array(HEAD * 4 + head.length + vocabulary.length);
  new Int32Array(bytes.buffer, 0, HEAD).set([FORMAT, head.length]);
  bytes.set(head, HEAD * 4);
  bytes.set(vocabulary, HEAD * 4 + head.length);
  return bytes;
}

/** null = these are not bytes of this version. Keeps `bytes`, which must be whole and not change. */
export function openPackedTokenizer(bytes: Uint8Array): PackedTokenizer | null {
  if (bytes.byteOffset % 4 !== 0) return openPackedTokenizer(bytes.slice());
  if (bytes.length < HEAD * 4) return null;
  const [format, length] = new Int32Array(bytes.buffer, bytes.byteOffset, HEAD);
  if (format !== FORMAT || length === undefined) return null;
  const vocabulary = openVocabulary(bytes.subarray(HEAD * 4 + length));
  if (vocabulary === null) return null;
  const text = new TextDecoder().decode(bytes.subarray(HEAD * 4, HEAD * 4 + length));
  return { ...(JSON.parse(text) as Omit<PackedTokenizer, "vocabulary">), vocabulary };
}

/** Padded, so that what follows lies at a multiple of four. */
function encode(value: unknown): Uint8Array {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  const padded = new Uint8Array(Math.ceil(bytes.length / 4) * 4).fill(0x20);
  padded.set(bytes);
  return padded;
}
