/**
 * Answers made before anything is measured. In: a cell's turns. Out: bytes in the shapes of vLLM 0.32 and SGLang
 * 0.5, with a gap where the prompt is echoed. Logprobs are float32 written as doubles, as the servers do.
 */
import type { BenchLanguage } from "./language.ts";
import { promptLengths } from "./plan-file.ts";
import { GROUP_SIZE, TURNS, type Cell } from "./workload.ts";

/** An answer's pieces; the prompt's text goes between each two. */
export type Body = readonly Uint8Array[];

export type Sample = {
  readonly index: number;
  readonly ids: readonly number[];
  readonly logprobs: readonly number[];
  readonly text: string;
  readonly finish: "stop" | "length";
};

export type Bodies = {
  /** Answer to the first request: all members. */
  readonly first: Body;
  /** By turn, then member. */
  readonly later: readonly (readonly Body[])[];
};

const ECHO = "@echo@";

export function makeBodies(language: BenchLanguage, cell: Cell): Bodies {
  const lengths = promptLengths(language, cell);
  const sampleOf = (turn: number, member: number, index: number): Sample => {
    const ids = [...language.turn(cell.shape, turn, member)];
    const logprobs = ids.map(
      (id, i) => -Math.fround(((id * 31 + i * 17 + member) % 997) / 313 + 1e-4),
    );
    const text = language.protocol.decodeTurn(Int32Array.from(ids));
    return { index, ids, logprobs, text, finish: "stop" };
  };
  const members = Array.from({ length: GROUP_SIZE }, (_, member) => member);
  return {
    first: cut(
      answerOf(
        cell.wire,
        members.map((m) => sampleOf(0, m, m)),
        lengths[0] ?? 0,
      ),
    ),
    later: Array.from({ length: TURNS }, (_, turn) =>
      members.map((m) => cut(answerOf(cell.wire, [sampleOf(turn, m, 0)], lengths[turn] ?? 0))),
    ),
  };
}

function cut(text: string): Body {
  return text.split(`"${ECHO}"`).map((piece) => new TextEncoder().encode(piece));
}

export function answerOf(
  wire: Cell["wire"],
  samples: readonly Sample[],
  promptTokens: number,
): string {
  switch (wire) {
    case "vllm":
      return JSON.stringify(generateAnswer(samples, promptTokens));
    case "vllm_completions":
      return JSON.stringify(completionsAnswer(samples, promptTokens));
    case "sglang":
      return JSON.stringify(samples.map((sample) => sglangItem(sample, promptTokens)));
  }
}

function usageOf(samples: readonly Sample[], promptTokens: number): object {
  const completion = samples.reduce((sum, { ids }) => sum + ids.length, 0);
  return {
    prompt_tokens: promptTokens,
    total_tokens: promptTokens + completion,
    completion_tokens: completion,
    prompt_tokens_details: null,
    completion_tokens_details: null,
  };
}

function generateAnswer(samples: readonly Sample[], promptTokens: number): object {
  return {
    request_id: "generate-tokens-bench",
    model: "bench",
    created: 1_796_017_031,
    usage: usageOf(samples, promptTokens),
    prompt_logprobs: null,
    prompt_token_id_logprobs: null,
    prompt_token_ids: ECHO,
    mm_placeholders: null,
    metrics: null,
    kv_transfer_params: null,
    ec_transfer_params: null,
    output_mode: "tokens",
    choices: samples.map(({ index, ids, logprobs, finish }) => ({
      index,
      finish_reason: finish,
      stop_reason: null,
      token_ids: ids,
      routed_experts: null,
      sampling_mask: null,
      weight_versions: [{ version: "default", start: 0, end: ids.length }],
      logprobs: {
        content: ids.map((id, i) => {
          const own = { token_id: id, logprob: logprobs[i], rank: 1 };
          return { ...own, top_logprobs: [own] };
        }),
      },
    })),
  };
}

function completionsAnswer(samples: readonly Sample[], promptTokens: number): object {
  return {
    id: "cmpl-bench",
    object: "text_completion",
    created: 1_796_017_199,
    model: "bench",
    choices: samples.map(({ index, ids, logprobs, text, finish }) => ({
      index,
      text,
      logprobs: {
        text_offset: ids.map((_, i) => i * 4),
        token_logprobs: logprobs,
        tokens: ids.map((id) => `token_id:${id}`),
        top_logprobs: ids.map((id, i) => ({ [`token_id:${id}`]: logprobs[i] })),
      },
      finish_reason: finish,
      stop_reason: null,
      token_ids: ids,
      prompt_logprobs: null,
      prompt_token_ids: ECHO,
      routed_experts: null,
    })),
    service_tier: null,
    system_fingerprint: null,
    usage: usageOf(samples, promptTokens),
    kv_transfer_params: null,
  };
}

function sglangItem({ ids, logprobs, text, finish }: Sample, promptTokens: number): object {
  return {
    text,
    output_ids: ids,
    meta_info: {
      id: "bench",
      finish_reason:
        finish === "stop"
          ? { type: "stop", matched: ids.at(-1) }
          : { type: "length", length: ids.length },
      prompt_tokens: promptTokens,
      weight_version: "default",
      num_retractions: 0,
      input_token_logprobs: [],
      output_token_logprobs: ids.map((id, i) => [logprobs[i], id, null]),
      output_token_logprobs_length: ids.length,
      reasoning_tokens: 0,
      completion_tokens: ids.length,
      cached_tokens: 0,
      weight_versions: [{ version: "default", start: 0, end: ids.length }],
      dp_rank: null,
      e2e_latency: 0.09442583000009108,
    },
    prompt_token_ids: ECHO,
  };
}
