/** What every Arrow file of a run says of itself. In: configuration, language, sampler. Out: facts for its metadata. */
import type { SamplerIdentity } from "@interlace/core";
import type { RunFacts } from "@interlace/train-bridge";
import type { Config } from "../config/schema.ts";
import type { Language } from "./open-language.ts";

export function runFacts(
  { rollout, learner, advantage }: Config,
  language: Language,
  sampler: Pick<SamplerIdentity, "logprobKind" | "vocabSize">,
  configHash: string,
): RunFacts {
  return {
    groupSize: rollout.groupSize,
    temperature: rollout.temperature,
    topP: rollout.topP,
    topK: rollout.topK,
    logprobKind: sampler.logprobKind,
    tokenizerId: language.tokenizerId,
    tokenizerHash: language.hashes.tokenizer,
    vocabSize: sampler.vocabSize,
    maxContextTokens: learner.maxContextTokens ?? rollout.maxTrajectoryTokens,
    seed: rollout.seed,
    seedScheme: rollout.seedScheme,
    configHash,
    advantageEstimator: advantage.estimator,
    systemPromptHash: language.hashes.systemPrompt,
    toolHash: language.hashes.tool,
    chatTemplateHash: language.hashes.chatTemplate,
  };
}
