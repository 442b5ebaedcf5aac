import type { AdvantageEstimator } from "./estimator.ts";
import { groupCentred, scoredOf } from "./group-centred.ts";

const EPSILON = 1e-8;

/**
 * REINFORCE++ with group baseline (Hu et al. 2025): centred in its group, then divided by the spread of the whole
 * batch. Per sequence: the batch mean of centred rewards is 0 already, so a group without a signal stays at
 * exactly 0; implementations that whiten per token differ by their lengths.
 */
export const reinforcePlusPlus: AdvantageEstimator = (groups) => {
  const centred = groups.map(groupCentred);
  const all = centred.flatMap(scoredOf);
  if (all.length < 2) return centred;
  const squares = all.reduce((sum, value) => sum + value ** 2, 0);
  const scale = Math.sqrt(squares / (all.length - 1)) + EPSILON;
  return centred.map((group) => group.map((value) => (value === null ? null : value / scale)));
};
