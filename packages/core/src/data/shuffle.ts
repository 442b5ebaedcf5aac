/**
 * In: items, a seed, the name of a generator. Out: a new order, the same for ever.
 * Refuses to know: the platform's own randomness.
 */
import { pythonRandom } from "./python-random.ts";

/** `splitmix64`: ours. `python`: the order of CPython's `random.Random(seed).shuffle`. */
export const SHUFFLES = ["splitmix64", "python"] as const;
export type ShuffleName = (typeof SHUFFLES)[number];

/** Fisher–Yates from the end, `j` drawn from `[0, i]`. The items are copied, not moved. */
export function shuffle<T>(items: readonly T[], seed: number, name: ShuffleName): T[] {
  const below = name === "python" ? pythonRandom(seed).below : splitMix64(seed);
  const out = [...items];
  for (let at = out.length - 1; at > 0; at--) {
    const other = below(at + 1);
    const held = out[at] as T;
    out[at] = out[other] as T;
    out[other] = held;
  }
  return out;
}

const MASK = (1n << 64n) - 1n;

/** Unbiased draws from `[0, n)`: 64-bit outputs that would favour small values are thrown away. */
function splitMix64(seed: number): (n: number) => number {
  let state = BigInt(seed) & MASK;
  const next = (): bigint => {
    state = (state + 0x9e3779b97f4a7c15n) & MASK;
    let z = state;
    z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
    z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & MASK;
    return z ^ (z >> 31n);
  };
  return (n) => {
    const size = BigInt(n);
    const fair = (MASK + 1n) / size;
    for (;;) {
      const draw = next();
      if (draw < fair * size) return Number(draw % size);
    }
  };
}
