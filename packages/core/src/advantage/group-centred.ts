/**
 * In: the rewards of one group, null = unscored. Out: A_i = R_i − mean(R), float64, null where unscored.
 * Refuses to know: what a reward stands for; it never divides by a standard deviation (rollout.md §8).
 */

/** Rewards of one group in, one advantage per member out: null stays null. */
export type AdvantageEstimator = (
  rewards: readonly (number | null)[],
) => readonly (number | null)[];

/** No signal: all scored rewards are equal. True as well for one scored member, and for none. */
export function isDegenerate(rewards: readonly (number | null)[]): boolean {
  const scored = rewards.filter((reward) => reward !== null);
  return scored.every((reward) => reward === scored[0]);
}

/** [group_size] → [group_size]. The mean is over scored members; a degenerate group gets exactly 0. */
export function groupCentred(rewards: readonly (number | null)[]): (number | null)[] {
  const scored = rewards.filter((reward) => reward !== null);
  // Decided on the rewards, not on differences: the mean of equal values can miss them by one ulp.
  const centre = isDegenerate(rewards) ? null : mean(scored);
  return rewards.map((reward) => {
    if (reward === null) return null;
    return centre === null ? 0 : reward - centre;
  });
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
