/** Where a configuration would bias the learner's ratio: one line each, with the fix. Pure. */
import type { LogprobKind } from "@interlace/core";
import type { SamplerKind } from "../server.ts";

export type Sampling = {
  readonly temperature: number;
  readonly topP: number;
  readonly topK: number | null;
};

export function biasWarnings(
  kind: SamplerKind,
  logprobs: LogprobKind,
  sampling: Sampling,
): readonly string[] {
  const { temperature, topP, topK } = sampling;
  const warnings: string[] = [];
  if (temperature !== 1 && temperature !== 0 && logprobs === "raw") {
    const how = HOW[kind];
    const fix = how === null ? "" : `, or ${how}`;
    warnings.push(
      `Logprobs are those of T = 1 but the temperature is ${temperature}: the learner's ratio is biased; set temperature = 1${fix}`,
    );
  }
  if ((topP < 1 || topK !== null) && logprobs !== "processed") {
    warnings.push(
      `top_p or top_k cuts what is sampled, but logprobs are those of the full vocabulary: the learner's ratio is biased; set top_p = 1 and top_k off`,
    );
  }
  if ((topP < 1 || topK !== null) && logprobs === "processed") {
    warnings.push(
      `Logprobs are renormalised over the kept ids: a learner with a full softmax is biased; set top_p = 1 and top_k off`,
    );
  }
  if (logprobs === "unknown" && (temperature !== 1 || topP < 1 || topK !== null)) {
    warnings.push(
      `What the logprobs mean could not be measured: set temperature = 1, top_p = 1 and top_k off, where all meanings agree`,
    );
  }
  return warnings;
}

const HOW: Readonly<Record<SamplerKind, string | null>> = {
  vllm: "start vLLM with --logprobs-mode processed_logprobs",
  sglang: "start SGLang without SGLANG_RETURN_ORIGINAL_LOGPROB",
  tgi: null,
  llamacpp: null,
  tinker: null,
};

/** Settings that a kind cannot honour: refused before the first request. null = fine. */
export function unsupported(
  kind: SamplerKind,
  sampling: Sampling,
  maxAssistantTokens: number,
): { readonly seen: string; readonly fix: string } | null {
  const { temperature } = sampling;
  if (kind === "vllm" && temperature > 2) {
    return { seen: `temperature ${temperature}, vLLM takes at most 2`, fix: "lower it" };
  }
  if (kind === "vllm" && temperature > 1e-5 && temperature < 0.01) {
    const seen = `temperature ${temperature}, which vLLM silently raises to 0.01`;
    return { seen, fix: "set 0 or at least 0.01" };
  }
  if (kind === "tgi" && maxAssistantTokens > 1024) {
    const seen = `max_assistant_tokens ${maxAssistantTokens}, TGI re-encodes its own text past 1024`;
    return { seen, fix: "set max_assistant_tokens = 1024 or less" };
  }
  return null;
}
