/** A batch on top of the stream: all groups of a list of problems, in order, and whether the step may be used. */
import type { MathExample } from "../data/math-example.ts";
import { DEFAULT_FAILURE_POLICY } from "../rollout/failure-policy.ts";
import type { Group, Member } from "../rollout/group.ts";
import type { Plan } from "../rollout/plan.ts";
import { createFailureBudget } from "./failure-budget.ts";
import type { Ports } from "./issue.ts";
import { rollout, type RolloutOptions } from "./rollout.ts";

export type CollectOptions = RolloutOptions & {
  /** Share of trajectories that may be lost to infrastructure before the batch fails. Default 0.5. */
  readonly maxFailedFraction?: number;
};

export type Batch = {
  /** `failed`: more than the allowed share was lost. `interrupted`: aborted before every group was complete. */
  readonly end: "complete" | "interrupted" | "failed";
  /** Complete groups, by `question_index`. */
  readonly groups: readonly Group[];
  /** Lost trajectories by `boundary:cause`. */
  readonly failures: ReadonlyMap<string, number>;
};

export async function collect(
  plan: Plan,
  problems: readonly MathExample[],
  ports: Ports,
  options: CollectOptions = {},
): Promise<Batch> {
  const total = problems.length * plan.config.groupSize;
  const { maxFailedFraction = DEFAULT_FAILURE_POLICY.maxFailedFraction } = options;
  const budget = createFailureBudget({ maxFailedFraction }, () => total);
  const { failures } = budget;
  const signals = options.signal === undefined ? [budget.signal] : [budget.signal, options.signal];
  const onSettled = (group: Group, member: Member) => {
    budget.settled(member);
    options.onSettled?.(group, member);
  };
  const groups: Group[] = [];
  const stream = rollout(plan, problems, ports, {
    ...options,
    onSettled,
    signal: AbortSignal.any(signals),
  });
  for await (const group of stream) groups.push(group);
  groups.sort((a, b) => a.question - b.question);
  if (budget.isOver()) return { end: "failed", groups, failures };
  return { end: groups.length === problems.length ? "complete" : "interrupted", groups, failures };
}
