/**
 * llama.cpp's `/completion`. In: a request, or a parsed answer. Out: a body, or raw samples. Pure; knows no HTTP.
 * It has no stop ids, so an answer is decoded to the model's own end and cut afterwards; its probabilities have
 * holes where a character is spread over tokens, and a hole is a failure.
 */
import type { SampleRequest } from "@interlace/core";
import { promptJson } from "../prompt-json.ts";
import { fields, list, number, rawFailure, text, type RawSample } from "../raw-sample.ts";

/** Its defaults are not neutral (temperature 0.8, top_k 40, top_p 0.95, min_p 0.05): every sampler is named. */
export function completionBody(request: SampleRequest): string {
  const rest = {
    n_predict: request.maxTokens,
    n_cmpl: request.samples,
    // 32 bits are kept and −1 means random: the port's seeds stay below 2^31, and so does seed + i here.
    seed: request.seed,
    temperature: request.temperature,
    top_k: request.topK ?? 0,
    top_p: request.topP,
    min_p: 0,
    typical_p: 1,
    top_n_sigma: -1,
    xtc_probability: 0,
    dynatemp_range: 0,
    mirostat: 0,
    dry_multiplier: 0,
    repeat_penalty: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    // Temperature first, as every other server does it: top_p then cuts what is sampled from.
    samplers: ["temperature", "top_k", "top_p"],
    stop: [],
    ignore_eos: false,
    n_probs: 1,
    post_sampling_probs: false,
    return_tokens: true,
    cache_prompt: true,
    stream: false,
  };
  return `{"prompt":[${promptJson(request.prompt)}],${JSON.stringify(rest).slice(1)}`;
}

/** A text = the answer is no sample. `contextLength` is that of a slot. */
export function parseCompletion(
  body: unknown,
  contextLength: number | null,
): readonly RawSample[] | string {
  const items = list(body) ?? (typeof body === "object" && body !== null ? [body] : null);
  if (items === null) return "Expected a completion or an array of them, the answer is none";
  return items.map((value, place) => parseItem(fields(value), place, contextLength));
}

function parseItem(
  item: Readonly<Record<string, unknown>>,
  place: number,
  contextLength: number | null,
): RawSample {
  const index = number(item["index"]) ?? place;
  const finish = readFinish(item["stop_type"]);
  if (finish === null) {
    const seen = JSON.stringify(item["stop_type"]) ?? "none";
    return rawFailure(index, "incomplete", `Expected stop_type eos, word or limit, got ${seen}`);
  }
  const ids = list(item["tokens"]);
  const entries = list(item["completion_probabilities"]);
  if (ids === null || entries === null) {
    const detail = "Expected tokens and completion_probabilities, the completion lacks them";
    return rawFailure(index, "incomplete", detail);
  }
  const length = number(item["tokens_evaluated"]);
  if (contextLength !== null && length !== null && length + ids.length > contextLength) {
    // With --context-shift old tokens are dropped on the way: what was sampled did not see its prompt.
    const detail = `Expected at most ${contextLength} tokens in a slot, got ${length + ids.length}: the context was shifted`;
    return rawFailure(index, "invalid_tokens", detail);
  }
  const shared = {
    ok: true,
    index,
    finish,
    versions: null,
    text: text(item["content"]),
    prompt: { ids: null, length },
  } as const;
  return {
    ...shared,
    ids,
    logprobs: entries.map((entry) => fields(entry)["logprob"]),
    entryIds: entries.map((entry) => fields(entry)["id"]),
  };
}

function readFinish(value: unknown): "stop" | "length" | null {
  if (value === "eos" || value === "word") return "stop";
  return value === "limit" ? "length" : null;
}
