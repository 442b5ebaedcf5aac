/**
 * Tinker's sampling calls. In: a request, or an answer. Out: a body, or what the answer of `retrieve_future` asks
 * for. Pure; knows no HTTP. The protobuf is Tinker's own, the JSON that of look-alikes (SkyRL).
 */
import type { SampleRequest } from "@interlace/core";
import { promptJson } from "../prompt-json.ts";
import { fields, list, rawFailure, text, type RawSample } from "../raw-sample.ts";
import { trouble, type Trouble } from "../trouble.ts";
import { readSampleResponse } from "./tinker-proto.ts";

export function sampleBody(
  request: SampleRequest,
  session: string,
  sequenceId: number,
  seeds: boolean,
): string {
  const head = { sampling_session_id: session, seq_id: sequenceId, num_samples: request.samples };
  const tail = {
    sampling_params: {
      max_tokens: request.maxTokens,
      ...(seeds ? { seed: request.seed } : {}),
      // Explicit, also when empty: null would mean the model's own EOS at one server and no stop at another.
      stop: request.stopIds,
      temperature: request.temperature,
      top_k: request.topK ?? -1,
      top_p: request.topP,
    },
    prompt_logprobs: false,
    topk_prompt_logprobs: 0,
    type: "sample",
  };
  const prompt = `{"chunks":[{"type":"encoded_text","tokens":[${promptJson(request.prompt)}]}]}`;
  return `${JSON.stringify(head).slice(0, -1)},"prompt":${prompt},${JSON.stringify(tail).slice(1)}`;
}

/** What a 200 of `retrieve_future` means. */
export type Future =
  | { readonly type: "samples"; readonly samples: readonly RawSample[] }
  /** Not ready: ask again. `paused` = the service holds requests back. */
  | { readonly type: "again"; readonly paused: boolean }
  /** Ready, and large: ask for the payload itself. */
  | { readonly type: "fetch" }
  | { readonly type: "failed"; readonly trouble: Trouble };

/** `version` = the sampling session's weights: in-flight samples stay with the session that they began in. */
export function parseFuture(contentType: string, bytes: Uint8Array, version: string): Future {
  if (contentType === "application/x-protobuf" || contentType === "application/octet-stream") {
    return parseProto(bytes, version);
  }
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    const type = contentType === "" ? "no content type" : contentType;
    return failed("server_error", `Expected protobuf or JSON from retrieve_future, got ${type}`);
  }
  const answer = fields(body);
  if (answer["type"] === "try_again") {
    return { type: "again", paused: String(answer["queue_state"]).startsWith("paused") };
  }
  if (answer["status"] === "complete_metadata") return { type: "fetch" };
  if (answer["error"] !== undefined) {
    const cause = answer["category"] === "user" ? "refused" : "server_error";
    return failed(cause, `The service failed the request: ${JSON.stringify(answer["error"])}`);
  }
  const sequences = list(answer["sequences"]);
  if (sequences === null) return failed("incomplete", "Expected sequences, the future has none");
  return {
    type: "samples",
    samples: sequences.map((value, index) => {
      const { stop_reason, tokens, logprobs } = fields(value);
      return toRaw(index, text(stop_reason), list(tokens), list(logprobs), version);
    }),
  };
}

function parseProto(bytes: Uint8Array, version: string): Future {
  const sequences = readSampleResponse(bytes);
  if (typeof sequences === "string") return failed("server_error", sequences);
  const samples = sequences.map(({ stopReason, tokens, logprobs }, index) => {
    // proto3 leaves a 0 out, so an absent reason is STOP.
    const reason = stopReason === 0 ? "stop" : stopReason === 1 ? "length" : String(stopReason);
    return toRaw(index, reason, tokens, logprobs, version);
  });
  return { type: "samples", samples };
}

function toRaw(
  index: number,
  reason: string | null,
  ids: ArrayLike<unknown> | null,
  logprobs: ArrayLike<unknown> | null,
  version: string,
): RawSample {
  if (reason !== "stop" && reason !== "length") {
    return rawFailure(index, "incomplete", `Expected stop_reason stop or length, got ${reason}`);
  }
  if (ids === null)
    return rawFailure(index, "incomplete", "Expected tokens, the sequence has none");
  if (logprobs === null) {
    return rawFailure(index, "invalid_logprobs", "Expected logprobs, the sequence has none");
  }
  return {
    ok: true,
    index,
    ids,
    logprobs,
    entryIds: null,
    finish: reason,
    versions: [{ version, start: 0, end: ids.length }],
    text: null,
    prompt: { ids: null, length: null },
  };
}

function failed(cause: Trouble["cause"], detail: string): Future {
  return { type: "failed", trouble: trouble(cause, detail) };
}
