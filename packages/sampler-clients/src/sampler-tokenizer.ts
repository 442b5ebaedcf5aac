/** `core`'s tokenizer as samplers need it: ids to text and back with special tokens kept, nothing cleaned up. */
import type { Tokenizer } from "@interlace/core";
import type { SamplerTokenizer } from "./server.ts";

export function samplerTokenizer(tokenizer: Tokenizer): SamplerTokenizer {
  const whole = tokenizer.decoder([]);
  return {
    vocabSize: tokenizer.vocabSize,
    decode: (ids) => whole.decode(ids),
    encode: (plain) => tokenizer.encodePieces([{ trusted: false, text: plain }]),
  };
}
