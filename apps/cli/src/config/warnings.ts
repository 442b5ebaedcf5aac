/** In: a valid configuration. Out: what is legal but pointless or biased, one sentence each (rollout.md §2). */
import type { Config } from "./schema.ts";

export function findWarnings({ rollout }: Config): readonly string[] {
  const warnings: string[] = [];
  if (rollout.groupSize === 1) {
    warnings.push("rollout.group_size is 1: every advantage is 0, no trajectory gives a datum");
  }
  if (rollout.maxAssistantTurns === 1) {
    warnings.push("rollout.max_assistant_turns is 1: no tool call can ever run");
  }
  if (rollout.topP < 1) {
    warnings.push(
      `rollout.top_p is ${rollout.topP}: a learner with a full softmax sees biased ratios; 1 has none`,
    );
  }
  return warnings;
}
