/**
 * Request seeds (rollout.md §7). In: where a request stands in the batch. Out: its seed in `[0, 2^31)`;
 * sequence i of the request draws with `seed + i`, in every adapter.
 */
import type { RolloutConfig } from "./config.ts";

const MASK_64 = (1n << 64n) - 1n;
const MODULUS = 2 ** 31;

/** First output of SplitMix64 from state `x`, unsigned 64-bit (Steele, Lea, Flood 2014). */
export function splitMix64(x: bigint): bigint {
  let z = (x + 0x9e3779b97f4a7c15n) & MASK_64;
  z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK_64;
  z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & MASK_64;
  return z ^ (z >> 31n);
}

/** The last one: every request of a step asks for the same. */
let known = { seed: Number.NaN, step: Number.NaN, start: 0 };

/** h(seed, step): where a step's seeds begin, reduced mod 2^31. */
export function stepSeed(seed: number, step: number): number {
  if (known.seed !== seed || known.step !== step) {
    const h = splitMix64(splitMix64(BigInt(seed)) ^ BigInt(step));
    known = { seed, step, start: Number(h % BigInt(MODULUS)) };
  }
  return known.start;
}

export type SeedPlace = {
  readonly step: number;
  readonly question: number;
  /** null = the shared first request. */
  readonly group: number | null;
  readonly turn: number;
};

/**
 * `hashed`: no two sequences of one step share a seed (as long as questions·G·T ≤ 2^31).
 * `positional`: the described system's, kept so that old runs can be repeated; it overlaps.
 */
export function requestSeed(config: RolloutConfig, place: SeedPlace): number {
  const { groupSize, maxAssistantTurns, seed } = config;
  const group = place.group ?? 0;
  if (config.seedScheme === "positional") {
    if (place.group === null) return (seed + place.question) % MODULUS;
    return (seed + place.question * groupSize + group + 10000 * place.turn) % MODULUS;
  }
  const offset = place.question * groupSize * maxAssistantTurns + place.turn * groupSize + group;
  return (stepSeed(seed, place.step) + offset) % MODULUS;
}
