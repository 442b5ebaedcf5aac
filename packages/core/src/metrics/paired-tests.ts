/**
 * In: two evaluations of the same problems, paired. Out: two-sided p-values of "there is no difference".
 * Exact wherever that is possible, else from seeded draws; says which. Refuses to know what was compared.
 */

export type PairedTest = {
  readonly method: "exact" | "sampled";
  readonly pValue: number;
  /** Mean of b − a over the pairs; 0 without pairs. */
  readonly difference: number;
  readonly pairs: number;
};

/** Table cells × problems up to which the distribution is computed whole. */
const EXACT_WORK = 50_000_000;
/** Denominator past which shares are rounded: sums of thousands of them are still whole numbers. */
const FINEST = 2 ** 40;
const DRAWS = 100_000;

/** Exact McNemar: of the problems that only one of the two passes, is half the other's? */
export function mcnemarTest(
  pairs: readonly (readonly [a: boolean, b: boolean])[],
): PairedTest & { readonly onlyA: number; readonly onlyB: number } {
  const onlyA = pairs.filter(([a, b]) => a && !b).length;
  const onlyB = pairs.filter(([a, b]) => !a && b).length;
  const difference = pairs.length === 0 ? 0 : (onlyB - onlyA) / pairs.length;
  const pValue = Math.min(1, 2 * binomialTail(onlyA + onlyB, Math.min(onlyA, onlyB)));
  return { method: "exact", pValue, difference, pairs: pairs.length, onlyA, onlyB };
}

/** A share of right answers, as a fraction: `correct` of `total` > 0. */
export type Share = { readonly correct: number; readonly total: number };

/**
 * Sign-flip permutation of the differences between paired shares: how often is a mean difference at least as large
 * when each pair's sign is a coin? `seed` draws the coins where the whole distribution is too large to compute.
 */
export function signFlipTest(
  pairs: readonly (readonly [a: Share, b: Share])[],
  seed = 42,
): PairedTest {
  if (pairs.length === 0) return { method: "exact", pValue: 1, difference: 0, pairs: 0 };
  // Whole numbers, so that equal sums are equal: no rounding decides a tie.
  const common = pairs.flat().reduce((all, { total }) => leastCommonMultiple(all, total), 1);
  const scale = Math.min(common, FINEST);
  const whole = ({ correct, total }: Share): number => Math.round((correct * scale) / total);
  const steps = pairs.map(([a, b]) => whole(b) - whole(a));
  const observed = steps.reduce((sum, step) => sum + step, 0);
  const sizes = steps.map(Math.abs).filter((size) => size > 0);
  const reach = sizes.reduce((sum, size) => sum + size, 0);
  const isSmall = (2 * reach + 1) * sizes.length <= EXACT_WORK;
  // What rounding may have taken from each share must not turn a tie into a loss.
  const limit = Math.abs(observed) - (common > FINEST ? 2 * pairs.length : 0);
  return {
    method: isSmall ? "exact" : "sampled",
    pValue: isSmall ? exactTail(sizes, reach, limit) : sampledTail(sizes, limit, seed),
    difference: observed / scale / pairs.length,
    pairs: pairs.length,
  };
}

/** P(|Σ ±size| ≥ observed): the distribution of the sum, one size after the other. */
function exactTail(sizes: readonly number[], reach: number, observed: number): number {
  let now = new Float64Array(2 * reach + 1);
  now[reach] = 1;
  for (const size of sizes) {
    const next = new Float64Array(now.length);
    for (const [at, chance] of now.entries()) {
      if (chance === 0) continue;
      next[at - size] = (next[at - size] ?? 0) + chance / 2;
      next[at + size] = (next[at + size] ?? 0) + chance / 2;
    }
    now = next;
  }
  let tail = 0;
  for (const [at, chance] of now.entries()) if (Math.abs(at - reach) >= observed) tail += chance;
  return Math.min(1, tail);
}

/** The observed one counts as a draw, so that no p-value is 0. */
function sampledTail(sizes: readonly number[], observed: number, seed: number): number {
  const flip = coins(seed);
  let reached = 1;
  for (let draw = 0; draw < DRAWS; draw++) {
    const sum = sizes.reduce((total, size) => total + (flip() ? size : -size), 0);
    if (Math.abs(sum) >= observed) reached += 1;
  }
  return reached / (DRAWS + 1);
}

/** Mulberry32 (Tommy Ettinger, public domain): the top bit of each output. */
function coins(seed: number): () => boolean {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) & 0x8000_0000) !== 0;
  };
}

/** P(X ≤ at), X ~ Binomial(n, ½); in logarithms, for n may be large. */
function binomialTail(n: number, at: number): number {
  let log = -n * Math.LN2;
  let tail = 0;
  for (let i = 0; i <= at; i++) {
    tail += Math.exp(log);
    log += Math.log((n - i) / (i + 1));
  }
  return tail;
}

/** Not finer than needed to see that it is too fine. */
function leastCommonMultiple(a: number, b: number): number {
  return a > FINEST ? a : (a / greatestCommonDivisor(a, b)) * b;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
