/**
 * Long lists, cut out of an answer before it is parsed. In: the answer's bytes; names of lists, each with the reader of
 * its items. Out: the rest as a short JSON text with a mark in place of every list that was cut, and typed rows. A list
 * that its reader does not take whole stays where it is, and the plain parse decides.
 *
 * No text can imitate a list. The second quote of `"name":[` has no backslash before it, so it begins or ends a string
 * in any JSON. It cannot begin one: a bare word would stand before it, and the rest, which holds that too, is refused.
 * So it ends one, and the list is a value. Whose value – of which object, under a longer name (`"x\"name"`), overruled
 * by the same name later – is for JSON.parse to say: it finds the mark in the list's place. A mark of its own only a
 * server could write, and that may as well write other ids.
 */
import type { Tokens } from "@interlace/core";
import {
  found,
  literal,
  readDecimal,
  readInteger,
  readLiteral,
  sourceOf,
  type Literal,
  type Source,
} from "./cut-numbers.ts";
import { findEcho } from "./prompt-echo.ts";
import { promptBytes } from "./prompt-json.ts";
import { list } from "./raw-sample.ts";

/** Reads one item into `item`. Out: the place behind it, −1 = anything else stands there. */
export type ReadItem = (source: Source, at: number) => number;

/** What the last item said: no object per token. */
export const item = { id: 0, logprob: 0 };

export type NamedList = {
  readonly name: Literal;
  readonly holds: "ids" | "logprobs" | "both" | "neither";
  readonly readItem: ReadItem;
};

export function namedList(name: string, holds: NamedList["holds"], readItem: ReadItem): NamedList {
  return { name: literal(`"${name}":[`), holds, readItem };
}

/** What a list said of each token; null = it says nothing of that. */
export type Row = { readonly ids: Int32Array | null; readonly logprobs: Float32Array | null };

export type Cut = { readonly rest: string; readonly rows: readonly Row[] };

const [COMMA, OPEN, CLOSE] = [44, 91, 93];

/** `prompt`: what was sent; its proven echoes become null. */
export function cutLists(answer: Uint8Array, names: readonly NamedList[], prompt: Tokens): Cut {
  const source = sourceOf(answer);
  const { bytes, length } = source;
  const sent = promptBytes(prompt);
  const rows: Row[] = [];
  let rest = "";
  let from = 0;
  for (let at = 0; at < length; at += 1) {
    if (bytes[at] !== OPEN) continue;
    const named = findName(source, names, at + 1);
    const end = named === null ? findEcho(source, at + 1, sent) : readItems(source, at + 1, named);
    if (end === -1) continue;
    rest += bytes.toString("utf8", from, at);
    rest += named === null ? "null" : `{"cut":${rows.length}}`;
    if (named !== null) rows.push(rowHolding(named.holds, rows));
    from = end + 1;
    at = end;
  }
  return { rest: rest + bytes.toString("utf8", from, length), rows };
}

/** Whose list begins here; null = none of these. */
function findName(source: Source, names: readonly NamedList[], start: number): NamedList | null {
  for (const named of names) {
    if (readLiteral(source, start - named.name.length, named.name) !== -1) return named;
  }
  return null;
}

let ids = new Int32Array(2048);
let logprobs = new Float32Array(2048);
let count = 0;

/** From behind the `[` to the place of its `]`; what the items said is then in `ids` and `logprobs`. */
function readItems(source: Source, start: number, { readItem }: NamedList): number {
  const { bytes } = source;
  count = 0;
  if (bytes[start] === CLOSE) return start;
  for (let at = start; ; at += 1) {
    at = readItem(source, at);
    if (count === ids.length) grow();
    ids[count] = item.id;
    logprobs[count] = item.logprob;
    count += 1;
    if (bytes[at] === CLOSE) return at;
    if (bytes[at] !== COMMA) return -1;
  }
}

function grow(): void {
  const [fewIds, fewLogprobs] = [ids, logprobs];
  ids = new Int32Array(2 * count);
  logprobs = new Float32Array(2 * count);
  ids.set(fewIds);
  logprobs.set(fewLogprobs);
}

function rowHolding(what: NamedList["holds"], before: readonly Row[]): Row {
  return {
    ids: what === "ids" || what === "both" ? keepIds(before) : null,
    logprobs: what === "logprobs" || what === "both" ? logprobs.slice(0, count) : null,
  };
}

/** Servers say a sample's ids twice: where they are the same, they are kept once. */
function keepIds(before: readonly Row[]): Int32Array {
  const last = before.findLast((row) => row.ids !== null)?.ids;
  return last && isSame(last) ? last : ids.slice(0, count);
}

function isSame(last: Int32Array): boolean {
  if (last.length !== count) return false;
  for (let i = 0; i < count; i += 1) if (last[i] !== ids[i]) return false;
  return true;
}

/** The row whose mark this value is. */
export function rowOf(value: unknown, rows: readonly Row[]): Row | null {
  if (rows.length === 0 || typeof value !== "object" || value === null) return null;
  const { cut } = value as { readonly cut?: unknown };
  return typeof cut === "number" ? (rows[cut] ?? null) : null;
}

/** Ids as they stand, or as they were cut. */
export function idsOf(value: unknown, rows: readonly Row[]): ArrayLike<unknown> | null {
  return list(value) ?? rowOf(value, rows)?.ids ?? null;
}

export function readId(source: Source, at: number): number {
  const end = readInteger(source, at);
  item.id = found;
  return end;
}

/** One that every check takes: what is wrong with another is told by the number as it stands. */
export function readLogprob(source: Source, at: number): number {
  const end = readDecimal(source, at);
  item.logprob = found;
  return found > 0 || found < LOWEST ? -1 : end;
}

/** Above what servers write for "none". */
const LOWEST = -9998;
