/**
 * The bare loop's reader: cuts ids and logprobs out of bytes whose shape it takes for granted. Independent of the
 * product's reader on purpose, and no model for one: it checks nothing.
 */
import type { Wire } from "./workload.ts";

export type Cut = {
  readonly ids: Int32Array;
  readonly logprobs: Float32Array;
  /** The ids as they stood in the answer. */
  readonly text: string;
};

const LISTS = {
  vllm: '"token_ids":[',
  vllm_completions: '"token_ids":[',
  sglang: '"output_ids":[',
} as const;

export function readAnswer(wire: Wire, bytes: Buffer, samples: number): readonly Cut[] {
  const cuts: Cut[] = [];
  let at = 0;
  for (let sample = 0; sample < samples; sample++) {
    // Completions write logprobs before the ids, the others behind them.
    const logs = wire === "vllm_completions" ? bytes.indexOf('"token_logprobs":[', at) + 18 : 0;
    const start = bytes.indexOf(LISTS[wire], at) + LISTS[wire].length;
    const end = bytes.indexOf("]", start);
    const text = bytes.toString("latin1", start, end);
    const ids = readIds(bytes, start, end);
    at = end;
    const logprobs = new Float32Array(ids.length);
    if (wire === "vllm_completions") readNumbers(bytes, logs, logprobs);
    else if (wire === "vllm")
      at = readEntries(bytes, bytes.indexOf('"content":[', end) + 11, logprobs);
    else at = readTriples(bytes, bytes.indexOf('"output_token_logprobs":[', end) + 25, logprobs);
    cuts.push({ ids, logprobs, text });
  }
  return cuts;
}

function readIds(bytes: Buffer, start: number, end: number): Int32Array {
  let count = 1;
  for (let i = start; i < end; i++) if (bytes[i] === 44) count += 1;
  const ids = new Int32Array(count);
  let at = 0;
  let id = 0;
  for (let i = start; i < end; i++) {
    const byte = bytes[i] as number;
    if (byte === 44) {
      ids[at++] = id;
      id = 0;
    } else id = id * 10 + byte - 48;
  }
  ids[at] = id;
  return ids;
}

let stopped = 0;

/** Sets `stopped` to the byte after the number. Fifteen digits are more than a float32 holds. */
function readNumber(bytes: Buffer, from: number): number {
  let i = from;
  const negative = bytes[i] === 45;
  if (negative) i += 1;
  let digits = 0;
  let value = 0;
  let scale = 0;
  let point = false;
  for (; ; i++) {
    const byte = bytes[i] as number;
    if (byte === 46) point = true;
    else if (byte >= 48 && byte <= 57) {
      if (digits < 15) {
        value = value * 10 + byte - 48;
        if (value > 0) digits += 1;
        if (point) scale += 1;
      }
    } else if (byte === 101) return readSlow(bytes, from);
    else break;
  }
  stopped = i;
  const out = value / 10 ** scale;
  return negative ? -out : out;
}

function readSlow(bytes: Buffer, from: number): number {
  let end = from;
  while (bytes[end] !== 44 && bytes[end] !== 93 && bytes[end] !== 125) end += 1;
  stopped = end;
  return Number(bytes.toString("latin1", from, end));
}

function readNumbers(bytes: Buffer, start: number, out: Float32Array): void {
  stopped = start - 1;
  for (let i = 0; i < out.length; i++) out[i] = readNumber(bytes, stopped + 1);
}

/** `[logprob,id,null],` each. */
function readTriples(bytes: Buffer, start: number, out: Float32Array): number {
  let at = start;
  for (let i = 0; i < out.length; i++) {
    out[i] = readNumber(bytes, at + 1);
    at = stopped;
    while (bytes[at] !== 91 && at < bytes.length) at += 1;
  }
  return stopped;
}

/** `{"token_id":5,"logprob":-1,…,"top_logprobs":[{…}]},` each; its own logprob comes first. */
function readEntries(bytes: Buffer, start: number, out: Float32Array): number {
  let at = start;
  for (let i = 0; i < out.length; i++) {
    at += 12;
    while (bytes[at] !== 108) at += 1;
    out[i] = readNumber(bytes, at + 9);
    at = stopped;
    while (bytes[at] !== 93) at += 1;
    at += 3;
  }
  return at;
}
