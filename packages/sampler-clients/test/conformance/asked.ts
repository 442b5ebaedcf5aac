/** What the conformance suite asks: the policy's own prompts, every field written out once. */
import {
  tokensOf,
  type Failure,
  type SampleRequest,
  type Sequence,
  type Tokens,
} from "@interlace/core";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** `<|im_end|>` of the policy's tokenizer. */
export const EOS = 507;

/** First prompts of held-out problems and an observation each, as ids of the policy's tokenizer. */
export const PROBLEMS = readFileSync(join(import.meta.dir, "../embedded/prompts.jsonl"), "utf8")
  .trimEnd()
  .split("\n")
  .slice(0, 3)
  .map((line) => JSON.parse(line) as { prompt: number[]; observation: number[] });

export const FIRST: Tokens = tokensOf(Int32Array.from(PROBLEMS[0]!.prompt));

export function ask(change: Partial<SampleRequest> = {}): SampleRequest {
  return {
    id: "s0-q0-gx-t0",
    affinity: "s0-q0",
    prompt: FIRST,
    samples: 1,
    maxTokens: 48,
    temperature: 1,
    topP: 1,
    topK: null,
    seed: 1234,
    stopIds: [EOS],
    ...change,
  };
}

/** Without a stop id a turn goes on, so a request takes long. */
export const LONG: Partial<SampleRequest> = { maxTokens: 400, samples: 4, stopIds: [] };

/** Throws for the first failure. */
export function sampled(entries: readonly (Sequence | Failure)[]): readonly Sequence[] {
  return entries.map((entry) => {
    if (!entry.ok) throw new Error(`${entry.cause}: ${entry.detail}`);
    return entry;
  });
}
