/**
 * The JSON text of a prompt's ids. A segment's text is made once and kept as long as the segment lives, so a
 * later turn pays for its new tokens only.
 */
import type { Segment, Tokens } from "@interlace/core";

const texts = new WeakMap<Segment, string>();

/** `1,300,301`: to stand between brackets. */
export function promptJson(prompt: Tokens): string {
  let all = "";
  for (const segment of prompt.segments) {
    const text = segmentJson(segment);
    if (text !== "") all = all === "" ? text : `${all},${text}`;
  }
  return all;
}

let sent = Buffer.alloc(1 << 16);

/** The bytes go on behind `length`, and hold until the next prompt's. */
export type PromptBytes = { readonly bytes: Buffer; readonly length: number };

/** The same as bytes: no text is joined for them. */
export function promptBytes(prompt: Tokens): PromptBytes {
  let length = 0;
  for (const segment of prompt.segments) {
    const text = segmentJson(segment);
    if (text === "") continue;
    const end = length + text.length + 1;
    if (end > sent.length) sent = Buffer.concat([sent, Buffer.alloc(2 * end)]);
    if (length > 0) sent[length - 1] = COMMA;
    sent.write(text, length, "latin1");
    length = end;
  }
  return { bytes: sent, length: Math.max(0, length - 1) };
}

const COMMA = 44;

function segmentJson(segment: Segment): string {
  let text = texts.get(segment);
  if (text === undefined) {
    text = joinIds(segment.ids);
    texts.set(segment, text);
  }
  return text;
}

/** Eleven characters hold any int32, a twelfth the comma. */
const LONGEST = 12;
const latin1 = new TextDecoder("latin1");
let scratch = new Uint8Array(LONGEST * 4096);

/** `ids.join(",")`, several times faster: digits are written as bytes, from the last to the first. */
export function joinIds(ids: Int32Array): string {
  if (scratch.length < LONGEST * ids.length) scratch = new Uint8Array(LONGEST * ids.length * 2);
  const bytes = scratch;
  let at = bytes.length;
  for (let i = ids.length - 1; i >= 0; i -= 1) {
    let rest = ids[i] as number;
    // A foreign id is refused before anything is sent; here it only must not be written wrongly.
    if (rest < 0) return ids.join(",");
    if (at < bytes.length) bytes[--at] = 44;
    do {
      const tens = Math.trunc(rest / 10);
      bytes[--at] = 48 + rest - tens * 10;
      rest = tens;
    } while (rest > 0);
  }
  return latin1.decode(bytes.subarray(at));
}
