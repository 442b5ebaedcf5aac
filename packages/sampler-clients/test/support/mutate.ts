/** Bytes with one to three things wrong, drawn from a seed. In: an answer. Out: a copy that may be anything. */

const NUMBERS =
  "null NaN -0 0 -0.0 1e-05 -1.5e-05 -9999.0 -Infinity true 007 5. -1 1.0 0.3 -0.3 1E-5 12345678901";
const ITEMS =
  '"5" "token_id:5" "token_id:x" [] {} ,null] [1,2] "token_ids":[ "output_ids":[1,2], "tokens":["token_id:7"], {"cut":0}';

const PIECES = [
  ...'0123456789-.,:[]{}" \\eE+\n',
  ...NUMBERS.split(" "),
  ...ITEMS.split(" "),
  ...'\u0000 é \ufeff \\u0022 \\"'.split(" "),
].map((text) => new TextEncoder().encode(text));

/** mulberry32: in [0, below). */
export function drawer(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

export function mutate(answer: Uint8Array, draw: (below: number) => number): Uint8Array {
  let bytes = answer;
  for (let times = 1 + draw(3); times > 0; times -= 1) {
    const at = draw(bytes.length + 1);
    const short = draw(12);
    switch (draw(8)) {
      case 0:
        bytes = splice(bytes, at, 1, PIECES[draw(PIECES.length)]!);
        break;
      case 1:
        bytes = splice(bytes, at, 0, PIECES[draw(PIECES.length)]!);
        break;
      case 2:
        bytes = splice(bytes, at, short, new Uint8Array());
        break;
      case 3:
        bytes = splice(bytes, at, 1, Uint8Array.of(draw(256)));
        break;
      case 4: {
        const from = draw(bytes.length + 1);
        bytes = splice(bytes, at, draw(2) * short, bytes.slice(from, from + draw(80)));
        break;
      }
      case 5:
        bytes = splice(bytes, at, draw(2) === 0 ? bytes.length : 0, new Uint8Array());
        break;
      default:
        bytes = overNumber(bytes, at, PIECES[draw(PIECES.length)]!);
    }
  }
  return bytes;
}

function splice(bytes: Uint8Array, at: number, length: number, piece: Uint8Array): Uint8Array {
  return Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at + length)]);
}

/** In place of the next number: so that what comes out is often JSON. */
function overNumber(bytes: Uint8Array, from: number, piece: Uint8Array): Uint8Array {
  const isNumeric = (place: number): boolean =>
    "0123456789.-".includes(String.fromCharCode(bytes[place] ?? 0));
  let at = from;
  while (at < bytes.length && !isNumeric(at)) at += 1;
  let end = at;
  while (isNumeric(end)) end += 1;
  return splice(bytes, at, end - at, piece);
}
