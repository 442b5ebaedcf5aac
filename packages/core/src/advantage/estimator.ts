/**
 * Rewards to advantages, by name. In: the rewards of a batch by group, null = unscored. Out: the same shape.
 * What every estimator keeps: null stays null, and a group without a signal gets exactly 0.
 */
import { groupCentred } from "./group-centred.ts";
import { groupStd } from "./group-std.ts";
import { leaveOneOut } from "./leave-one-out.ts";
import { maxRl } from "./max-rl.ts";
import { passAtK } from "./pass-at-k.ts";
import { reinforcePlusPlus } from "./reinforce-plus-plus.ts";

/** Rewards of one group, [group_size]. */
export type Rewards = readonly (number | null)[];

/** [questions][group_size] → [questions][group_size]. */
export type AdvantageEstimator = (groups: readonly Rewards[]) => readonly Rewards[];

export type EstimatorOptions = {
  /** k of `pass_at_k`; groups with fewer scored members use all of them. */
  readonly k: number;
};

export const ESTIMATOR_NAMES = [
  "group_centred",
  "grpo_std",
  "rloo",
  "dr_grpo",
  "reinforce_plus_plus",
  "max_rl",
  "pass_at_k",
] as const;
export type EstimatorName = (typeof ESTIMATOR_NAMES)[number];

export function createEstimator(
  name: EstimatorName,
  options: EstimatorOptions = { k: 4 },
): AdvantageEstimator {
  switch (name) {
    case "group_centred":
    // Dr. GRPO drops the standard deviation; its other half, the constant length norm, is the learner's.
    case "dr_grpo":
      return perGroup(groupCentred);
    case "grpo_std":
      return perGroup(groupStd);
    case "rloo":
      return perGroup(leaveOneOut);
    case "reinforce_plus_plus":
      return reinforcePlusPlus;
    case "max_rl":
      return perGroup(maxRl);
    case "pass_at_k":
      return perGroup((rewards) => passAtK(rewards, options.k));
  }
}

function perGroup(estimate: (rewards: Rewards) => Rewards): AdvantageEstimator {
  return (groups) => groups.map(estimate);
}
