import type { Tokens } from "../tokens/tokens.ts";
import type { Failure } from "./failure.ts";

/** Names one set of weights. Never a number: servers name them as they like. */
export type WeightVersion = string & { readonly __brand: "WeightVersion" };

export function weightVersion(name: string): WeightVersion {
  return name as WeightVersion;
}

/** Tokens `[start, end)` of one completion were sampled from `version`; null = the server does not tell. */
export type VersionSpan = {
  readonly version: WeightVersion | null;
  readonly start: number;
  readonly end: number;
};

/** What a reported logprob means (samplers.md §4). */
export type LogprobKind = "raw" | "temperature_scaled" | "processed" | "unknown";

export type SamplerIdentity = {
  /** `vllm`, `sglang`, `tgi`, `llamacpp`, `tinker`, `embedded`, `replay`, `scripted`. */
  readonly kind: string;
  readonly model: string;
  /** Rows of the model's output: valid ids are `[0, vocabSize)`. Often more than the tokenizer names. */
  readonly vocabSize: number;
  /** Tokens of prompt + completion; null = the server does not tell. */
  readonly contextLength: number | null;
  readonly logprobKind: LogprobKind;
  readonly honoursSeed: boolean;
  /** How weight versions are known: the server tells per token, per request, or not at all. */
  readonly versionSource: "per_token" | "per_request" | "none";
  readonly weightVersion: WeightVersion | null;
};

export type SampleRequest = {
  /** Unique within a run: `s0-q3-g1-t2`; `g` is `x` for a group's shared first request. */
  readonly id: string;
  /** Requests with one affinity share a prefix and should meet one replica. */
  readonly affinity: string;
  readonly prompt: Tokens;
  /** n ≥ 1; sequence i draws with seed `(seed + i) mod 2^31`. */
  readonly samples: number;
  readonly maxTokens: number;
  readonly temperature: number;
  readonly topP: number;
  /** null = off. */
  readonly topK: number | null;
  /** `0 ≤ seed < 2^31`. */
  readonly seed: number;
  /** Empty when the tokenizer has no EOS. */
  readonly stopIds: readonly number[];
};

export type Sequence = {
  readonly ok: true;
  /** The sampler's own ids, [n]; n = 0 is legal. */
  readonly ids: Int32Array;
  /** log p of each id under the sampling policy, [n], finite and ≤ 1e-4. */
  readonly logprobs: Float32Array;
  readonly finish: "stop" | "length" | "aborted";
  readonly seed: number;
  /** Cover `[0, n)` without gaps; empty = nothing is known. */
  readonly versions: readonly VersionSpan[];
  /** Text as the server decoded it, to be compared with ours; null = it sent none. */
  readonly serverText: string | null;
};

/** Token ids in, token ids and logprobs out. Implemented in `sampler-clients`. */
export interface Sampler {
  identity(): Promise<SamplerIdentity>;
  /**
   * One entry per sample, in order. Retries, limits and time-outs live inside. Rejects only on abort. A signal is listened
   * to by every call that has it: thousands at once each want one of their own, as `rollout` gives them.
   */
  sample(request: SampleRequest, signal: AbortSignal): Promise<readonly (Sequence | Failure)[]>;
}
