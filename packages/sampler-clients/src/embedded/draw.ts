/**
 * From logits to one token. In: one row of logits, temperature, top_p, top_k, one uniform number.
 * Out: the id and its logprob under each of the three meanings that servers use (samplers.md §4).
 * Ties are broken by the lower id; nothing here depends on other rows.
 */
export type Sampling = {
  /** 0 = the most likely id. */
  readonly temperature: number;
  readonly topP: number;
  /** null = off. */
  readonly topK: number | null;
};

export type Drawn = {
  /** -1: the row has no distribution (a NaN, or +Infinity). */
  readonly id: number;
  /** log softmax(l). */
  readonly raw: number;
  /** log softmax(l / T); at T = 0 the same as raw, as vLLM and SGLang report it. */
  readonly temperatureScaled: number;
  /** The same, renormalised over the ids that top_k and top_p keep. */
  readonly processed: number;
};

const BROKEN: Drawn = {
  id: -1,
  raw: Number.NaN,
  temperatureScaled: Number.NaN,
  processed: Number.NaN,
};

export type Drawer = {
  /** `row` is [vocab]; `uniform` in [0, 1). */
  draw(row: Float32Array, sampling: Sampling, uniform: number): Drawn;
};

export function createDrawer(vocab: number): Drawer {
  const weights = new Float64Array(vocab);
  return {
    draw(row, sampling, uniform) {
      let most = -Infinity;
      let best = 0;
      for (let i = 0; i < vocab; i++) {
        if (row[i]! > most) {
          most = row[i]!;
          best = i;
        }
      }
      const total = exponentials(row, most, 1, weights);
      if (!(total >= 1 && total <= vocab)) return BROKEN;
      if (sampling.temperature === 0) {
        const raw = -Math.log(total);
        return { id: best, raw, temperatureScaled: raw, processed: raw };
      }
      const scaled =
        sampling.temperature === 1 ? total : exponentials(row, most, sampling.temperature, weights);
      const kept = keep(weights, scaled, sampling);
      const id = invert(weights, uniform * kept);
      const height = (row[id]! - most) / sampling.temperature;
      return {
        id,
        raw: Math.min(0, row[id]! - most - Math.log(total)),
        temperatureScaled: Math.min(0, height - Math.log(scaled)),
        processed: Math.min(0, height - Math.log(kept)),
      };
    },
  };
}

/** Writes exp((l − most) / T); returns the sum, in id order. */
function exponentials(row: Float32Array, most: number, temperature: number, out: Float64Array) {
  let sum = 0;
  for (let i = 0; i < out.length; i++) {
    const e = Math.exp((row[i]! - most) / temperature);
    out[i] = e;
    sum += e;
  }
  return sum;
}

/** Zeroes what top_k, then top_p drop; returns the sum of what is kept, in id order. */
export function keep(
  weights: Float64Array,
  total: number,
  sampling: Pick<Sampling, "topP" | "topK">,
): number {
  const topK = sampling.topK ?? weights.length;
  if (topK >= weights.length && sampling.topP >= 1) return total;
  const order = Array.from(weights.keys()).sort((a, b) => weights[b]! - weights[a]! || a - b);
  const among = order.slice(0, topK);
  const mass = among.reduce((sum, id) => sum + weights[id]!, 0);
  let count = 0;
  // The id that carries the sum over top_p is kept: the set is never empty.
  for (let sum = 0; count < among.length && (count === 0 || sum < sampling.topP * mass); count++) {
    sum += weights[among[count]!]!;
  }
  for (const id of order.slice(count)) weights[id] = 0;
  return weights.reduce((sum, weight) => sum + weight, 0);
}

/** First id whose running sum passes `target`; rounding at the end falls back to the last id with any weight. */
function invert(weights: Float64Array, target: number): number {
  let sum = 0;
  let last = 0;
  for (let i = 0; i < weights.length; i++) {
    if (weights[i] === 0) continue;
    sum += weights[i]!;
    last = i;
    if (sum > target) return i;
  }
  return last;
}
