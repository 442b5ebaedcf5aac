/**
 * The long lists of vLLM's answers, as 0.32 writes them. In: bytes. Out: the place behind an item, which is then in
 * `item`, or −1 for anything else. They are nine tenths of an answer, and each entry says everything twice.
 */
import { namedList, readId, readLogprob } from "../cut-lists.ts";
import { literal, readInteger, readLiteral, readSame, type Source } from "../cut-numbers.ts";

const ENTRY = literal('{"token_id":');
const LOGPROB = literal(',"logprob":');
const RANK = literal(',"rank":');
const TOP = literal(',"top_logprobs":[{"token_id":');
const [CLOSE, BRACE, QUOTE, COLON] = [93, 125, 34, 58];

/** `{"token_id":5,"logprob":-0.5,"rank":1,"top_logprobs":[{` the same again `}]}`. */
function readEntry(source: Source, at: number): number {
  const idAt = readLiteral(source, at, ENTRY);
  const logprobAt = readLiteral(source, readId(source, idAt), LOGPROB);
  const rankAt = readLiteral(source, readLogprob(source, logprobAt), RANK);
  const rankEnd = readInteger(source, rankAt);
  const end = readSame(source, idAt, rankEnd, readLiteral(source, rankEnd, TOP));
  const { bytes } = source;
  return bytes[end] === BRACE && bytes[end + 1] === CLOSE && bytes[end + 2] === BRACE
    ? end + 3
    : -1;
}

export const GENERATE_LISTS = [
  namedList("token_ids", "ids", readId),
  namedList("content", "both", readEntry),
];

const NAME = literal('"token_id:');
const KEY = literal('{"token_id:');

/** `"token_id:5"`. */
function readName(source: Source, at: number): number {
  const end = readId(source, readLiteral(source, at, NAME));
  return source.bytes[end] === QUOTE ? end + 1 : -1;
}

/** `{"token_id:5":-0.5}`. */
function readTop(source: Source, at: number): number {
  const { bytes } = source;
  const end = readId(source, readLiteral(source, at, KEY));
  if (bytes[end] !== QUOTE || bytes[end + 1] !== COLON) return -1;
  const logprobEnd = readLogprob(source, end + 2);
  return bytes[logprobEnd] === BRACE ? logprobEnd + 1 : -1;
}

export const COMPLETIONS_LISTS = [
  namedList("token_ids", "ids", readId),
  namedList("token_logprobs", "logprobs", readLogprob),
  namedList("tokens", "ids", readName),
  // Nothing is read of these two.
  namedList("text_offset", "neither", readId),
  namedList("top_logprobs", "neither", readTop),
];
