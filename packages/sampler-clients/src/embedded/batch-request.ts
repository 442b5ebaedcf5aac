/** What a batcher is asked and what it answers. */
import type { LogprobKind, WeightVersion } from "@interlace/core";
import type { Drawn, Sampling } from "./draw.ts";

export type BatchRequest = Sampling & {
  /** Unique among what is waiting or live. */
  readonly id: number;
  /** [1, context) ids of the vocabulary. */
  readonly prompt: Int32Array;
  readonly samples: number;
  /** At least 1; what does not fit into the context is cut off as `length`. */
  readonly maxTokens: number;
  /** Sample i draws with `(seed + i) mod 2^31`. */
  readonly seed: number;
  readonly stopIds: readonly number[];
  readonly logprobKind: Exclude<LogprobKind, "unknown">;
};

export type BatchSpan = {
  readonly version: WeightVersion;
  readonly start: number;
  readonly end: number;
};

export type BatchSequence = {
  readonly ids: Int32Array;
  readonly logprobs: Float32Array;
  /** `broken`: the logits after `ids` were no distribution. */
  readonly finish: "stop" | "length" | "aborted" | "broken";
  readonly seed: number;
  /** Cover the ids without gaps. */
  readonly versions: readonly BatchSpan[];
};

export type BatchAnswer = { readonly id: number; readonly sequences: readonly BatchSequence[] };

export type BatchCounts = {
  readonly live: number;
  readonly waiting: number;
  /** Since the start: steps, rows fed through the model, tokens sampled. */
  readonly steps: number;
  readonly rows: number;
  readonly tokens: number;
};

/** Called for every sampled token with the row of logits it came from; both are valid until it returns. */
export type TokenWatcher = (sample: number, index: number, drawn: Drawn, row: Float32Array) => void;

export function seedOf(seed: number, sample: number): number {
  return (seed + sample) % 2 ** 31;
}
