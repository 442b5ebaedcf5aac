import { mapScored } from "./group-centred.ts";

/** RLOO (Ahmadian et al. 2024): each reward minus the mean of the group's other scored members. */
export function leaveOneOut(rewards: readonly (number | null)[]): (number | null)[] {
  return mapScored(rewards, (scored) => {
    const sum = scored.reduce((total, reward) => total + reward, 0);
    return (reward) => reward - (sum - reward) / (scored.length - 1);
  });
}
