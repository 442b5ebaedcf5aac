/** Every public name of the package, written by hand, in the order in which a request flows. */
export {
  samplerOptionsSchema,
  type SamplerOptions,
  type SamplerOptionsInput,
  serverUrlSchema,
} from "./sampler-options.ts";
export { isVariableName, variableNameSchema } from "./variable-name.ts";
export { SAMPLER_KINDS, type SamplerKind, type SamplerTokenizer } from "./server.ts";
export {
  findTokenizer,
  readModelRows,
  type FindTokenizerOptions,
  type FoundTokenizer,
} from "./tokenizer-source/find-tokenizer.ts";
export { samplerTokenizer } from "./sampler-tokenizer.ts";
export { createSampler, type SamplerClient, type SamplerContext } from "./create-sampler.ts";
export type { Answer, Refusal } from "./handshake/answer.ts";
export type { Sampling } from "./handshake/bias.ts";
export type { Retry } from "./wrappers/retry.ts";
export { SAMPLER_CAUSES, type SamplerCause } from "./trouble.ts";
export { ReplayMiss, replaySampler, type ReplayOptions } from "./replay.ts";
export {
  embeddedPolicyFolder,
  embeddedProblemFiles,
  embeddedSystemPrompt,
  hashWeights,
} from "./embedded/load-policy.ts";
export {
  createEmbeddedSampler,
  type EmbeddedSampler,
  type EmbeddedSamplerOptions,
} from "./embedded/sampler.ts";
export type { KernelKind } from "./embedded/kernels.ts";
