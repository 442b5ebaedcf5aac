/**
 * In: the rewards of one group, null = unscored. Out: A_i = R_i − mean(R), float64, null where unscored.
 * Refuses to know: what a reward stands for; it never divides by a standard deviation (rollout.md §8).
 */

/** No signal: all scored rewards are equal. True as well for one scored member, and for none. */
export function isDegenerate(rewards: readonly (number | null)[]): boolean {
  const scored = scoredOf(rewards);
  return scored.every((reward) => reward === scored[0]);
}

/** [group_size] → [group_size]. The mean is over scored members; a degenerate group gets exactly 0. */
export function groupCentred(rewards: readonly (number | null)[]): (number | null)[] {
  return mapScored(rewards, (scored) => {
    const centre = mean(scored);
    return (reward) => reward - centre;
  });
}

/**
 * Shared by the estimators: `prepare` sees the scored rewards of a group that has a signal. Decided on the
 * rewards, not on differences: the mean of equal values can miss them by one ulp.
 */
export function mapScored(
  rewards: readonly (number | null)[],
  prepare: (scored: readonly number[]) => (reward: number) => number,
): (number | null)[] {
  const estimate = isDegenerate(rewards) ? () => 0 : prepare(scoredOf(rewards));
  return rewards.map((reward) => (reward === null ? null : estimate(reward)));
}

export function scoredOf(rewards: readonly (number | null)[]): number[] {
  return rewards.filter((reward) => reward !== null);
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Bessel's correction, as torch.std has it by default; needs two values. */
export function sampleStd(values: readonly number[]): number {
  const centre = mean(values);
  const squares = values.reduce((sum, value) => sum + (value - centre) ** 2, 0);
  return Math.sqrt(squares / (values.length - 1));
}
