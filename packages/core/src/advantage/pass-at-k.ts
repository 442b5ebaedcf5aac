import { mapScored } from "./group-centred.ts";

/**
 * Pass@k training (Chen et al. 2025, arXiv 2508.10751), in closed form over all subsets of k members: the reward
 * of a subset is whether it holds a success (a reward over 0). A member's advantage is the mean over the subsets
 * that hold it, centred and scaled by the subsets' mean and deviation.
 */
export function passAtK(rewards: readonly (number | null)[], k: number): (number | null)[] {
  if (!Number.isInteger(k) || k < 1)
    throw new RangeError(`Expected k to be a positive integer, got ${k}`);
  return mapScored(rewards, (scored) => {
    const size = Math.min(k, scored.length);
    const failures = scored.filter((reward) => reward <= 0).length;
    const rate = 1 - chooseRatio(failures, scored.length, size);
    const scale = Math.sqrt(rate * (1 - rate));
    // Every subset succeeds, or none does.
    if (scale === 0) return () => 0;
    const ofSuccess = (1 - rate) / scale;
    const withFailure = 1 - chooseRatio(failures - 1, scored.length - 1, size - 1);
    const ofFailure = (withFailure - rate) / scale;
    return (reward) => (reward > 0 ? ofSuccess : ofFailure);
  });
}

/** C(a, k) / C(b, k) for a ≤ b, without large numbers. */
function chooseRatio(a: number, b: number, k: number): number {
  let ratio = 1;
  for (let i = 0; i < k; i++) ratio *= Math.max(0, a - i) / (b - i);
  return ratio;
}
