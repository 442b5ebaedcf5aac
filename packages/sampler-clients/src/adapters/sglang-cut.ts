/**
 * The long lists of an SGLang sample, as 0.5 writes them. In: bytes. Out: the place behind an item, which is then in
 * `item`, or −1 for anything else.
 */
import { namedList, readId, readLogprob } from "../cut-lists.ts";
import type { Source } from "../cut-numbers.ts";

const [OPEN, COMMA] = [91, 44];
/** `,nul` and `ull]`, as little-endian words. */
const [COMMA_NUL, ULL_CLOSE] = [0x6c756e2c, 0x5d6c6c75];

/** `[-0.5,300,null]`. */
function readTriple(source: Source, at: number): number {
  const { bytes, view } = source;
  if (bytes[at] !== OPEN) return -1;
  const end = readLogprob(source, at + 1);
  if (bytes[end] !== COMMA) return -1;
  const idEnd = readId(source, end + 1);
  if (idEnd === -1 || view.getInt32(idEnd, true) !== COMMA_NUL) return -1;
  return view.getInt32(idEnd + 2, true) === ULL_CLOSE ? idEnd + 6 : -1;
}

export const SGLANG_LISTS = [
  namedList("output_ids", "ids", readId),
  namedList("output_token_logprobs", "both", readTriple),
];
