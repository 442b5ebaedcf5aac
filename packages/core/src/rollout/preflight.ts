/**
 * What can be known to be wrong, or pointless, before anything is sampled (rollout.md §2, faults 5 and 8).
 * In: the configuration and what server and learner say of themselves. Out: findings, worst first.
 */
import type { LogprobKind } from "../ports/sampler.ts";
import type { RolloutConfig } from "./config.ts";

export type Finding = {
  readonly level: "error" | "warning";
  /** snake_case name of the setting to change. */
  readonly field: string;
  readonly message: string;
};

export type Surroundings = {
  /** Longest prompt + completion that the server takes; null = it does not tell. */
  readonly serverContext: number | null;
  /** Longest trajectory that the learner takes; null = no learner is named. */
  readonly learnerContext: number | null;
  readonly logprobKind: LogprobKind;
};

export function preflight(config: RolloutConfig, around: Surroundings): readonly Finding[] {
  const findings: Finding[] = [];
  const add = (level: Finding["level"], field: string, message: string) =>
    findings.push({ level, field, message });
  const longest = config.maxTrajectoryTokens;
  for (const [who, limit] of [
    ["server", around.serverContext],
    ["learner", around.learnerContext],
  ] as const) {
    if (limit === null || longest <= limit) continue;
    add(
      "error",
      "max_trajectory_tokens",
      `max_trajectory_tokens is ${longest}, but the ${who} takes at most ${limit} tokens: lower it to ${limit} or raise the ${who}'s limit`,
    );
  }
  if (config.groupSize === 1) {
    add("warning", "group_size", "group_size 1: every advantage is 0, a learner gets nothing");
  }
  if (config.maxAssistantTurns === 1) {
    add("warning", "max_assistant_turns", "max_assistant_turns 1: a tool call can never run");
  }
  if (config.temperature === 0 && config.groupSize > 1) {
    add("warning", "temperature", "temperature 0: all trajectories of a group are the same");
  }
  if (config.topP < 1 || config.topK !== null) {
    add(
      "warning",
      config.topP < 1 ? "top_p" : "top_k",
      "top_p < 1 or top_k: ratios of a learner with a full softmax are biased; use top_p 1 and no top_k for training",
    );
  }
  if (config.temperature !== 1 && around.logprobKind === "raw") {
    add(
      "warning",
      "temperature",
      `temperature ${config.temperature} with raw logprobs (T = 1): a learner's ratios are biased; use temperature 1 or a server that reports processed logprobs`,
    );
  }
  return findings;
}
