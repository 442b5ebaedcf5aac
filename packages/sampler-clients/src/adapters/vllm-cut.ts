/**
 * The fast way into a vLLM answer. In: its bytes. Out: its logprob entries as typed rows and the rest as a short JSON
 * text – or null for anything that is not exactly what vLLM 0.32 writes, and then the plain parse decides. Entries are
 * nine tenths of an answer, and each says everything twice.
 */

export type CutEntries = { readonly ids: Int32Array; readonly logprobs: Float32Array };

export type CutAnswer = {
  /** The answer with every `content` list empty. */
  readonly rest: string;
  /** One per `content` list, in the order of the text. */
  readonly contents: readonly CutEntries[];
};

const CONTENT = new TextEncoder().encode('"logprobs":{"content":[');
const ENTRY = literal('{"token_id":');
const LOGPROB = literal(',"logprob":');
const RANK = literal(',"rank":');
const TOP = literal(',"top_logprobs":[{"token_id":');
const [LETTER_E, MINUS, DOT, ZERO, NINE, COMMA, CLOSE, BRACE] = [101, 45, 46, 48, 57, 44, 93, 125];
const decoder = new TextDecoder("latin1");

/** A text as 32-bit words, the last one overlapping: compared four bytes at a time. */
type Literal = {
  readonly length: number;
  readonly words: readonly number[];
  readonly last: number;
};

function literal(text: string): Literal {
  const bytes = new TextEncoder().encode(text);
  const view = new DataView(bytes.buffer);
  const words = Array.from({ length: Math.floor(bytes.length / 4) }, (_, i) =>
    view.getUint32(4 * i, true),
  );
  return { length: bytes.length, words, last: view.getUint32(bytes.length - 4, true) };
}

export function cutAnswer(bytes: Uint8Array): CutAnswer | null {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const parts: string[] = [];
  const contents: CutEntries[] = [];
  let from = 0;
  for (;;) {
    const found = buffer.indexOf(CONTENT, from);
    if (found === -1) break;
    const start = found + CONTENT.length;
    const cut = cutContent(bytes, view, start);
    if (cut === null) return null;
    parts.push(buffer.toString("utf8", from, start));
    contents.push(cut.entries);
    from = cut.end;
  }
  if (contents.length === 0) return null;
  parts.push(buffer.toString("utf8", from));
  return { rest: parts.join(""), contents };
}

type Content = { readonly entries: CutEntries; readonly end: number };

/** An entry has at least these many bytes. */
const LEAST = 80;

/** From behind the `[` to its `]`. */
function cutContent(bytes: Uint8Array, view: DataView, start: number): Content | null {
  const { length } = bytes;
  const most = Math.ceil((length - start) / LEAST);
  const ids = new Int32Array(most);
  const logprobs = new Float32Array(most);
  let count = 0;
  let at = start;
  while (bytes[at] !== CLOSE) {
    if (at + LEAST > length || !begins(view, at, ENTRY)) return null;
    const idAt = at + ENTRY.length;
    const idEnd = integer(bytes, idAt);
    const id = value;
    if (idEnd === idAt || idEnd - idAt > 9 || !begins(view, idEnd, LOGPROB)) return null;
    const logprobEnd = decimal(bytes, idEnd + LOGPROB.length);
    if (logprobEnd === -1 || logprobEnd + RANK.length > length) return null;
    if (!begins(view, logprobEnd, RANK)) return null;
    const logprob = value;
    const rankEnd = integer(bytes, logprobEnd + RANK.length);
    // The same id, logprob and rank again: one jump over them, checked at its borders.
    const again = rankEnd + TOP.length;
    const end = again + (rankEnd - idAt);
    if (end + 3 >= length || !begins(view, rankEnd, TOP)) return null;
    if (bytes[again] !== bytes[idAt] || bytes[end - 1] !== bytes[rankEnd - 1]) return null;
    if (bytes[end] !== BRACE || bytes[end + 1] !== CLOSE || bytes[end + 2] !== BRACE) return null;
    ids[count] = id;
    logprobs[count] = logprob;
    count += 1;
    at = end + 3;
    if (bytes[at] === COMMA) at += 1;
    else if (bytes[at] !== CLOSE) return null;
  }
  return { entries: { ids: ids.slice(0, count), logprobs: logprobs.slice(0, count) }, end: at };
}

function begins(view: DataView, at: number, { words, length, last }: Literal): boolean {
  for (let i = 0; i < words.length; i += 1) {
    if (view.getUint32(at + 4 * i, true) !== words[i]) return false;
  }
  return view.getUint32(at + length - 4, true) === last;
}

/** What `integer` and `decimal` read last: a second result without an object per number. */
let value = 0;

/** The place behind the digits; the same place when there are none. */
function integer(bytes: Uint8Array, from: number): number {
  let at = from;
  let all = 0;
  for (let byte = bytes[at]!; byte >= ZERO && byte <= NINE; byte = bytes[at]!) {
    all = all * 10 + byte - ZERO;
    at += 1;
  }
  value = all;
  return at;
}

/**
 * Reads `-7.843177318572998`; −1 = no such number. Up to 15 digits are exact; past them the quotient is off by less than
 * 1e-15 of itself, which half precision of a float32 (6e-8) does not see.
 */
function decimal(bytes: Uint8Array, from: number): number {
  const negative = bytes[from] === MINUS;
  const whole = negative ? from + 1 : from;
  const dot = integer(bytes, whole);
  const units = value;
  if (dot === whole || bytes[dot] !== DOT) return -1;
  const end = integer(bytes, dot + 1);
  const places = end - dot - 1;
  if (places === 0 || places > 22 || bytes[end] === LETTER_E) return slowDecimal(bytes, from, end);
  const scale = POWERS[places]!;
  const magnitude = (units * scale + value) / scale;
  value = negative ? -magnitude : magnitude;
  return end;
}

const POWERS = Array.from({ length: 23 }, (_, places) => 10 ** places);

/** `1.5e-05` and anything else that is rare. */
function slowDecimal(bytes: Uint8Array, from: number, seen: number): number {
  let end = seen;
  while (end < bytes.length && bytes[end] !== COMMA) end += 1;
  value = Number(decoder.decode(bytes.subarray(from, end)));
  return Number.isFinite(value) ? end : -1;
}
