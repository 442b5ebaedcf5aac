/** Counts what a batch loses to infrastructure, and says stop when that is more than it may lose. */
import { failureName } from "../ports/failure.ts";
import type { FailurePolicy } from "../rollout/failure-policy.ts";
import type { Member } from "../rollout/group.ts";

export type FailureBudget = {
  /** Lost trajectories by `boundary:cause`. */
  readonly failures: ReadonlyMap<string, number>;
  /** Aborted at the first loss beyond the budget: what is still under way would be thrown away. */
  readonly signal: AbortSignal;
  readonly lost: () => number;
  readonly isOver: () => boolean;
  readonly settled: (member: Member) => void;
};

/** `asked`: trajectories of the whole batch, as far as they are known now. */
export function createFailureBudget(
  { maxFailedFraction }: Pick<FailurePolicy, "maxFailedFraction">,
  asked: () => number,
): FailureBudget {
  const failures = new Map<string, number>();
  const stop = new AbortController();
  let lost = 0;
  const isOver = (): boolean => lost > maxFailedFraction * asked();
  return {
    failures,
    signal: stop.signal,
    lost: () => lost,
    isOver,
    settled: ({ failure }) => {
      if (failure === null) return;
      const name = failureName(failure);
      failures.set(name, (failures.get(name) ?? 0) + 1);
      lost += 1;
      if (isOver()) stop.abort();
    },
  };
}
