/** `retrieve_future`: scripted answers first, then a wait, then the samples. */
import type { FutureAnswer } from "../faults.ts";
import { wait } from "../latency.ts";
import { jsonResponse } from "../wire-json.ts";
import type { FutureResult, FutureState, TinkerCore } from "./options.ts";
import { detail } from "./sample.ts";

export async function retrieve(
  core: TinkerCore,
  body: unknown,
  signal: AbortSignal,
): Promise<Response> {
  const { request_id: id } = (body ?? {}) as { request_id?: unknown };
  if (typeof id !== "string" || !/^\d+$/.test(id)) {
    const headers = { "content-type": "text/plain; charset=utf-8" };
    return new Response("Internal Server Error", { status: 500, headers });
  }
  const future = core.futures.get(id);
  if (future === undefined || future.gone) return detail(404, "Future not found");
  const scripted = nextAnswer(future);
  if (scripted !== null) return playAnswer(id, future, scripted, body);
  if (!future.done) await Promise.race([future.result, wait(core.tinker.pollMs, signal)]);
  if (future.done) return toResponse(await future.result);
  return core.tinker.protobuf ? tryAgain(id, "active") : detail(408, "Timeout waiting for result");
}

function nextAnswer(future: FutureState): FutureAnswer | null {
  const { fault } = future;
  if (fault?.type !== "future") return null;
  return fault.answers[future.answered++] ?? null;
}

async function playAnswer(
  id: string,
  future: FutureState,
  what: FutureAnswer,
  body: unknown,
): Promise<Response> {
  switch (what) {
    case "try_again":
      return tryAgain(id, "active");
    case "paused_capacity":
      return tryAgain(id, "paused_capacity");
    case "complete_metadata": {
      const { allow_metadata_only: allowed } = body as { allow_metadata_only?: unknown };
      const result = await future.result;
      if (allowed !== true) return toResponse(result);
      const size = result.bytes.length;
      return jsonResponse({ status: "complete_metadata", response_payload_size: size });
    }
    case "error_user":
    case "error_server": {
      const category = what === "error_user" ? "user" : "server";
      return jsonResponse({ error: "The request failed", category });
    }
    case 408:
      return jsonResponse({ queue_state: "active", queue_state_reason: null }, 408);
    case 410:
      future.gone = true;
      return detail(410, "Future expired");
    case 429:
      return detail(429, "Slow down");
    case 400:
      return new Response("Bad Request", { status: 400 });
    case 500:
      return new Response("Internal Server Error", { status: 500 });
  }
}

function toResponse({ status, type, bytes }: FutureResult): Response {
  return new Response(bytes, { status, headers: { "content-type": type } });
}

function tryAgain(id: string, state: string): Response {
  const answer = {
    type: "try_again",
    request_id: id,
    queue_state: state,
    queue_state_reason: null,
  };
  return jsonResponse(answer);
}
