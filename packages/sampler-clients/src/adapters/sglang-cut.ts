/**
 * The long lists of an SGLang sample, as 0.5 writes them. In: bytes. Out: the place behind an item, which is then in
 * `item`, or −1 for anything else.
 */
import { namedList, readId, readLogprob } from "../cut-lists.ts";
import { literal, readLiteral, type Source } from "../cut-numbers.ts";

const [OPEN, COMMA] = [91, 44];
const NO_TEXT = literal(",null]");

/** `[-0.5,300,null]`. */
function readTriple(source: Source, at: number): number {
  const { bytes } = source;
  if (bytes[at] !== OPEN) return -1;
  const end = readLogprob(source, at + 1);
  if (bytes[end] !== COMMA) return -1;
  return readLiteral(source, readId(source, end + 1), NO_TEXT);
}

export const SGLANG_LISTS = [
  namedList("output_ids", "ids", readId),
  namedList("output_token_logprobs", "both", readTriple),
];
