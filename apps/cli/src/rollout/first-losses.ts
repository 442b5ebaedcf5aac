/** The first trajectory that is lost to each cause, told as it happens: a count names neither the server nor its words. */
import { failureName, type Member } from "@interlace/core";

/** In: every member as it settles. Out: one line to `tell` for each new cause. */
export function tellFirstLosses(tell: (line: string) => void): (member: Member) => void {
  const told = new Set<string>();
  return ({ failure }) => {
    if (failure === null) return;
    const cause = failureName(failure);
    if (told.has(cause)) return;
    told.add(cause);
    tell(`a trajectory is lost to ${cause}: ${failure.detail}`);
  };
}
