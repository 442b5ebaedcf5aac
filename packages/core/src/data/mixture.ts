/**
 * Several data sets as one, in fixed shares. In: parts with weights. Out: one order, in which every beginning has the
 * shares of the weights as closely as whole problems allow. Refuses to know: shuffling, and where parts came from.
 */

export type MixturePart<T> = {
  readonly items: readonly T[];
  /** > 0; only ratios count. */
  readonly weight: number;
};

/** More than this is a mistake in the weights: one part would be repeated without end. */
const MAX_LENGTH = 10_000_000;

/**
 * Long enough that the part that lasts longest is met once; the others start again when they end. Draws nothing: the
 * next item is always of the part that is furthest behind its share, the first of several.
 */
export function mixItems<T>(parts: readonly MixturePart<T>[]): T[] {
  for (const [i, { items, weight }] of parts.entries()) {
    if (items.length === 0) throw new RangeError(`Expected items in part ${i + 1}, got none`);
    if (!(weight > 0 && Number.isFinite(weight))) {
      throw new RangeError(`Expected a weight over 0 of part ${i + 1}, got ${weight}`);
    }
  }
  const total = parts.reduce((sum, { weight }) => sum + weight, 0);
  const rounds = parts.reduce(
    (most, { items, weight }) => Math.max(most, items.length / weight),
    0,
  );
  const length = Math.round(rounds * total);
  if (length > MAX_LENGTH) {
    throw new RangeError(
      `Expected weights that mix to at most ${MAX_LENGTH} items, got ${length}: the smallest weight is far too small for its part`,
    );
  }
  const taken = parts.map(() => 0);
  return Array.from({ length }, (_, at) => {
    let next = 0;
    let most = -Infinity;
    for (const [i, { weight }] of parts.entries()) {
      const behind = (weight / total) * (at + 1) - (taken[i] ?? 0);
      // Sums of shares are not exact: a tie must stay one.
      if (behind > most + 1e-9) [next, most] = [i, behind];
    }
    const { items } = parts[next]!;
    const index = taken[next] ?? 0;
    taken[next] = index + 1;
    return items[index % items.length]!;
  });
}
