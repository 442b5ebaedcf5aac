import { mapScored } from "./group-centred.ts";

/**
 * MaxRL (Tajwar et al. 2026, arXiv 2602.02710): success minus the group's success rate, divided by that rate, so
 * that hard problems count as in maximum likelihood. A success is a reward over 0.
 */
export function maxRl(rewards: readonly (number | null)[]): (number | null)[] {
  return mapScored(rewards, (scored) => {
    const rate = scored.filter((reward) => reward > 0).length / scored.length;
    // Rewards differ, but nobody succeeded, or everybody: nothing to tell apart.
    if (rate === 0 || rate === 1) return () => 0;
    return (reward) => (Number(reward > 0) - rate) / rate;
  });
}
