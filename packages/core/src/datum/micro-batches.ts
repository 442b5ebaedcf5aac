/**
 * In: lengths of datums and how many samples the step scored. Out: which datums the learner sees together,
 * and the weight of each batch. Refuses to know what the datums hold (datum.md §2).
 */

export type PackingLimits = {
  /** Datums of one micro-batch. */
  readonly maxItems: number;
  /** Items × longest item: the rectangle that a padded batch fills. One longer datum gets a batch of its own. */
  readonly maxPaddedTokens: number;
};

export const DEFAULT_PACKING: PackingLimits = { maxItems: 32, maxPaddedTokens: 64_000 };

export type MicroBatch = {
  /** Indices into the datums, longest first; equally long ones keep their order. */
  readonly items: readonly number[];
  /** Items × longest item. */
  readonly paddedTokens: number;
  /** float32(n_k / N): makes the sum of per-batch means the mean over all N scored samples. */
  readonly weight: number;
};

/**
 * First-fit decreasing. `scored` is N: scored trajectories of the step, also those without a datum.
 * Throws RangeError when N is 0 or less than the datums, or when a limit or a length is not a positive integer.
 */
export function packMicroBatches(
  lengths: readonly number[],
  scored: number,
  limits: PackingLimits = DEFAULT_PACKING,
): readonly MicroBatch[] {
  checkPositive("max_items", limits.maxItems);
  checkPositive("max_padded_tokens", limits.maxPaddedTokens);
  checkPositive("scored samples", scored);
  for (const [index, length] of lengths.entries())
    checkPositive(`length of datum ${index}`, length);
  if (scored < lengths.length) {
    throw new RangeError(
      `Expected at least as many scored samples as datums (${lengths.length}), got ${scored}`,
    );
  }
  const order = lengths.map((_, index) => index);
  order.sort((a, b) => (lengths[b] ?? 0) - (lengths[a] ?? 0));
  const open: { readonly items: number[]; readonly longest: number }[] = [];
  for (const index of order) {
    const length = lengths[index] ?? 0;
    const batch = open.find(
      ({ items, longest }) =>
        items.length < limits.maxItems && (items.length + 1) * longest <= limits.maxPaddedTokens,
    );
    if (batch === undefined) open.push({ items: [index], longest: length });
    else batch.items.push(index);
  }
  return open.map(({ items, longest }) => ({
    items,
    paddedTokens: items.length * longest,
    weight: Math.fround(items.length / scored),
  }));
}

/** What the learner does with `sample_weight`: float32 × float32, in a new array of the same length. */
export function scaleAdvantages(advantages: Float32Array, weight: number): Float32Array {
  const rounded = Math.fround(weight);
  return advantages.map((advantage) => Math.fround(advantage * rounded));
}

function checkPositive(name: string, value: number): void {
  if (!Number.isSafeInteger(value) || value < 1) {
    throw new RangeError(`Expected ${name} to be an integer of at least 1, got ${value}`);
  }
}
