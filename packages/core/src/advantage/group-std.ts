import { mapScored, mean, sampleStd } from "./group-centred.ts";

/** Keeps a nearly unanimous group finite; the value that verl uses. */
const EPSILON = 1e-6;

/** GRPO (Shao et al. 2024, DeepSeekMath §4.1): (R_i − mean) / (std + 1e-6), std with Bessel's correction. */
export function groupStd(rewards: readonly (number | null)[]): (number | null)[] {
  return mapScored(rewards, (scored) => {
    const centre = mean(scored);
    const scale = sampleStd(scored) + EPSILON;
    return (reward) => (reward - centre) / scale;
  });
}
