/**
 * In: a seed. Out: the integers that CPython's `random.Random(seed)` draws, bit for bit.
 * Source: the Mersenne Twister MT19937 of Matsumoto and Nishimura, seeded by array as CPython does.
 */
const SIZE = 624;
const SHIFT = 397;

export type PythonRandom = {
  /** `getrandbits(bits)`, 1 ≤ bits ≤ 32. */
  readonly bits: (bits: number) => number;
  /** `_randbelow(n)`, 1 ≤ n < 2^32: what `shuffle` and `randrange` draw. */
  readonly below: (n: number) => number;
};

/** `seed` is a safe integer; CPython takes its absolute value. */
export function pythonRandom(seed: number): PythonRandom {
  if (!Number.isSafeInteger(seed)) throw new RangeError(`Expected an integer seed, got ${seed}`);
  const state = seedByArray(wordsOf(Math.abs(seed)));
  let at = SIZE;

  const word = (): number => {
    if (at === SIZE) {
      regenerate(state);
      at = 0;
    }
    let y = state[at++] as number;
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  };
  const bits = (count: number): number => word() >>> (32 - count);
  return {
    bits,
    below(n) {
      const width = 32 - Math.clz32(n);
      let draw = bits(width);
      while (draw >= n) draw = bits(width);
      return draw;
    },
  };
}

/** 32-bit words of a number, lowest first, at least one. */
function wordsOf(value: number): readonly number[] {
  const low = value % 2 ** 32;
  const high = Math.floor(value / 2 ** 32);
  return high === 0 ? [low] : [low, high];
}

function seedByArray(key: readonly number[]): Uint32Array {
  const state = new Uint32Array(SIZE);
  state[0] = 19650218;
  for (let i = 1; i < SIZE; i++) state[i] = Math.imul(1812433253, folded(state, i)) + i;

  let i = 1;
  let j = 0;
  for (let left = Math.max(SIZE, key.length); left > 0; left--) {
    const mixed = (state[i] as number) ^ Math.imul(folded(state, i), 1664525);
    state[i] = mixed + (key[j] as number) + j;
    j = (j + 1) % key.length;
    i = wrapped(state, i + 1);
  }
  for (let left = SIZE - 1; left > 0; left--) {
    state[i] = ((state[i] as number) ^ Math.imul(folded(state, i), 1566083941)) - i;
    i = wrapped(state, i + 1);
  }
  state[0] = 0x80000000;
  return state;
}

/** The word before `i`, its top two bits folded in. */
function folded(state: Uint32Array, i: number): number {
  const before = state[i - 1] as number;
  return before ^ (before >>> 30);
}

/** Past the end the last word becomes the first, and the walk goes on at 1. */
function wrapped(state: Uint32Array, i: number): number {
  if (i < SIZE) return i;
  state[0] = state[SIZE - 1] as number;
  return 1;
}

function regenerate(state: Uint32Array): void {
  for (let i = 0; i < SIZE; i++) {
    const y =
      ((state[i] as number) & 0x80000000) | ((state[(i + 1) % SIZE] as number) & 0x7fffffff);
    const twist = y & 1 ? 0x9908b0df : 0;
    state[i] = (state[(i + SHIFT) % SIZE] as number) ^ (y >>> 1) ^ twist;
  }
}
