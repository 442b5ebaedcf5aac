/** In: the settings. Out: how a step's groups become scores, advantages and datums; the same for export and check. */
import {
  createEstimator,
  isDegenerate,
  isGraded,
  scoreShaped,
  type Group,
  type Score,
  type GradedMember,
  type StepDatumsOptions,
} from "@interlace/core";
import type { Config } from "../config/schema.ts";

export function stepOptions(config: Config, maxContextTokens: number): StepDatumsOptions {
  const { learner, advantage, dynamicSampling, run } = config;
  return {
    maxContextTokens,
    packing: { maxItems: learner.maxItems, maxPaddedTokens: learner.maxPaddedTokens },
    score: scoreOf(config),
    estimate: createEstimator(advantage.estimator, { k: advantage.k }),
    setAsideDegenerate: dynamicSampling.enabled,
    minScored: run.minScored,
  };
}

/** As dynamic sampling asks: the same rewards as the step's own. */
export function hasSignal(config: Config): (group: Group) => boolean {
  const score = scoreOf(config);
  return (group) =>
    !isDegenerate(
      group.members.map((member) => (isGraded(member) ? (score(member)?.reward ?? null) : null)),
    );
}

function scoreOf({ reward }: Config): (member: GradedMember) => Score | null {
  const { shaping, overlongMaxTokens: maxTokens, overlongBufferTokens: bufferTokens } = reward;
  return scoreShaped(shaping, maxTokens === null ? null : { maxTokens, bufferTokens });
}
