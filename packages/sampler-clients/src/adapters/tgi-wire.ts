/**
 * TGI's `/generate`. In: a request and its text, or a parsed answer. Out: a body, or a raw sample. Pure; knows
 * no HTTP. One sample per request: `best_of` loses the order and refuses a seed.
 */
import type { SampleRequest } from "@interlace/core";
import { fields, list, rawFailure, text, type RawSample } from "../raw-sample.ts";

/**
 * Past 1,024 new tokens its router decodes what it has, encodes that text again and goes on: the context is then
 * no longer the ids it returned.
 */
export const TGI_MAX_NEW_TOKENS = 1024;

export function generateBody(request: SampleRequest, inputs: string): string {
  const greedy = request.temperature === 0;
  return JSON.stringify({
    inputs,
    parameters: {
      best_of: null,
      do_sample: !greedy,
      temperature: greedy ? null : request.temperature,
      top_k: request.topK,
      // 1 is refused: off is null.
      top_p: request.topP === 1 ? null : request.topP,
      typical_p: null,
      repetition_penalty: null,
      frequency_penalty: null,
      max_new_tokens: request.maxTokens,
      stop: [],
      seed: request.seed,
      truncate: null,
      watermark: false,
      return_full_text: false,
      details: true,
      decoder_input_details: false,
      top_n_tokens: null,
      grammar: null,
      adapter_id: null,
    },
  });
}

/** Ids that the server makes of a text; null = the answer is no list of tokens. */
export function parseTokenize(body: unknown): readonly unknown[] | null {
  return list(body)?.map((token) => fields(token)["id"]) ?? null;
}

/** `promptLength` as the answer's header tells it, null = it does not. */
export function parseGenerate(body: unknown, promptLength: number | null): RawSample | string {
  const answer = fields(list(body)?.[0] ?? body);
  const details = fields(answer["details"]);
  const tokens = list(details["tokens"]);
  if (tokens === null) return "Expected details.tokens, the answer has none";
  const finish = readFinish(details["finish_reason"]);
  if (finish === null) {
    const seen = JSON.stringify(details["finish_reason"]) ?? "none";
    const detail = `Expected finish_reason length, eos_token or stop_sequence, got ${seen}`;
    return rawFailure(0, "incomplete", detail);
  }
  return {
    ok: true,
    index: 0,
    ids: tokens.map((token) => fields(token)["id"]),
    logprobs: tokens.map((token) => fields(token)["logprob"]),
    entryIds: null,
    finish,
    versions: null,
    text: text(answer["generated_text"]),
    prompt: { ids: null, length: promptLength },
  };
}

function readFinish(value: unknown): "stop" | "length" | null {
  if (value === "eos_token" || value === "stop_sequence") return "stop";
  return value === "length" ? "length" : null;
}
