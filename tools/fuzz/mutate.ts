/** Inputs from examples: random bytes, and examples that were damaged. In: examples, words, a number. Out: always the same bytes. */

export type Random = () => number;

/** Uniform in [0, 1), by seed (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const LONGEST_NOISE = 200;
const MOST_CHANGES = 6;

export function mutate(
  examples: readonly Uint8Array[],
  words: readonly string[],
  random: Random,
): Uint8Array {
  const below = (n: number): number => Math.floor(random() * n);
  if (random() < 0.1) {
    return Uint8Array.from({ length: below(LONGEST_NOISE) }, () => below(256));
  }
  let bytes = pick(examples, below);
  for (let i = 1 + below(MOST_CHANGES); i > 0; i--) bytes = change(bytes, examples, words, below);
  return bytes;
}

const ODD_BYTES = [
  0, 1, 9, 10, 13, 32, 34, 39, 44, 60, 62, 91, 92, 93, 123, 125, 127, 128, 0xc3, 0xff,
];

function change(
  bytes: Uint8Array,
  examples: readonly Uint8Array[],
  words: readonly string[],
  below: (n: number) => number,
): Uint8Array {
  const at = below(bytes.length + 1);
  const to = Math.min(bytes.length, at + 1 + below(1 << below(10)));
  switch (below(8)) {
    case 0: {
      const copy = bytes.slice();
      if (at < copy.length) copy[at] = (copy[at] as number) ^ (1 << below(8));
      return copy;
    }
    case 1: {
      const copy = bytes.slice();
      if (at < copy.length) copy[at] = ODD_BYTES[below(ODD_BYTES.length)] as number;
      return copy;
    }
    case 2: // a part left out
      return join(bytes.subarray(0, at), bytes.subarray(to));
    case 3: // a part twice
      return join(bytes.subarray(0, to), bytes.subarray(at));
    case 4: // cut
      return bytes.slice(0, at);
    case 5: {
      const word = new TextEncoder().encode(words[below(words.length)] ?? "");
      return join(bytes.subarray(0, at), word, bytes.subarray(at));
    }
    case 6: {
      const other = pick(examples, below);
      const from = below(other.length + 1);
      return join(
        bytes.subarray(0, at),
        other.subarray(from, from + below(64)),
        bytes.subarray(at),
      );
    }
    default: {
      const copy = bytes.slice();
      // A length or an offset that is far off.
      const view = new DataView(copy.buffer);
      const place = Math.max(0, Math.min(at, copy.length - 4)) & ~3;
      if (copy.length >= 4)
        view.setInt32(place, [0, -1, 1 << 30, below(2 ** 31)][below(4)] as number, true);
      return copy;
    }
  }
}

function pick(examples: readonly Uint8Array[], below: (n: number) => number): Uint8Array {
  return examples[below(examples.length)] ?? new Uint8Array();
}

function join(...parts: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
