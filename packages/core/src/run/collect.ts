/** A batch on top of the stream: all groups of a list of problems, in order, and whether the step may be used. */
import type { MathExample } from "../data/math-example.ts";
import { DEFAULT_FAILURE_POLICY, isOverFailureBudget } from "../rollout/failure-policy.ts";
import type { Group, Member } from "../rollout/group.ts";
import type { Plan } from "../rollout/plan.ts";
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
  const isOver = (): boolean => isOverFailureBudget({ maxFailedFraction }, lost, total);
  const stop = new AbortController();
  const signals = options.signal === undefined ? [stop.signal] : [stop.signal, options.signal];
  const failures = new Map<string, number>();
  let lost = 0;
  const onSettled = (group: Group, member: Member) => {
    if (member.failure !== null) {
      const name = `${member.failure.boundary}:${member.failure.cause}`;
      failures.set(name, (failures.get(name) ?? 0) + 1);
      lost += 1;
      // It can no longer meet the limit: what is still under way would be thrown away.
      if (isOver()) stop.abort();
    }
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
  if (isOver()) return { end: "failed", groups, failures };
  return { end: groups.length === problems.length ? "complete" : "interrupted", groups, failures };
}
