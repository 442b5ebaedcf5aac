/**
 * Servers send the prompt's ids back, which is most of a late answer. In: a source, the place behind a `[`, the bytes of
 * the ids as they were sent. Out: where the list ends, if it is an echo and, byte for byte, what was sent: then it is
 * proven, and need not be parsed and compared number by number. −1 = anything else, which stays, and is compared.
 */
import { literal, readLiteral, type Source } from "./cut-numbers.ts";
import type { PromptBytes } from "./prompt-json.ts";

const ECHO = literal('"prompt_token_ids":[');
const [COMMA, BRACE, CLOSE] = [44, 123, 93];

/** `sent` without brackets; an echo with other white space simply stays. */
export function findEcho(source: Source, start: number, sent: PromptBytes): number {
  const { bytes } = source;
  const name = start - ECHO.length;
  if (readLiteral(source, name, ECHO) === -1) return -1;
  // Behind a backslash it is the end of another name.
  const before = bytes[name - 1];
  const end = start + sent.length;
  if ((before !== COMMA && before !== BRACE) || bytes[end] !== CLOSE) return -1;
  return bytes.compare(sent.bytes, 0, sent.length, start, end) === 0 ? end : -1;
}
