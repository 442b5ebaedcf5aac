/**
 * vLLM behind the port: which endpoint it offers, what it says of itself, how it is told to stop. The shapes are
 * in `vllm-wire.ts`.
 */
import type { SampleRequest } from "@interlace/core";
import type { Call, Http } from "../http.ts";
import { sampledBy, type RawSample } from "../raw-sample.ts";
import { sendJson } from "../read-json.ts";
import type { ConnectOptions, Server, ServerFacts } from "../server.ts";
import { trouble, type Trouble } from "../trouble.ts";
import { chooseModel } from "./choose-model.ts";
import { updateVllm } from "./vllm-weights.ts";
import { postTokenize } from "./post-tokenize.ts";
import { completionsBody, generateBody, readCompletions, readGenerate } from "./vllm-wire.ts";
import { readLoad, readVersion, type LoadMetrics } from "./watch-server.ts";

/** Dev mode only; 404 elsewhere. */
const WEIGHT_INFO = "/weight_info";

const LOAD_METRICS: LoadMetrics = {
  running: "vllm:num_requests_running",
  waiting: "vllm:num_requests_waiting",
  kvUsage: "vllm:kv_cache_usage_perc",
  preemptions: "vllm:num_preemptions_total",
};

const GENERATE = "/inference/v1/generate";
const COMPLETIONS = "/v1/completions";
const CONTROL_MS = 30_000;
/** Below it vLLM samples greedily, and greedy sampling takes n = 1 only. */
const GREEDY_BELOW = 1e-5;

export async function connectVllm(
  http: Http,
  options: ConnectOptions,
  signal: AbortSignal,
): Promise<Server | Trouble> {
  const model = await chooseModel(http, options.model, signal);
  if (!model.ok) return model;
  const endpoint = await findEndpoint(http, signal);
  if (!endpoint.ok) return endpoint;
  const generate = endpoint.path === GENERATE;
  // A LoRA's requests name it by `model`; then a weight feed changes the name.
  let lora: string | null = null;
  const base = model.id;
  const version = await readVersion(http, WEIGHT_INFO, signal);
  const facts: ServerFacts = {
    kind: "vllm",
    model: model.id,
    vocabSize: null,
    contextLength: model.contextLength,
    versionSource: generate ? "per_token" : version === null ? "none" : "per_request",
    weightVersion: version,
    takesSeeds: true,
    stops: "server",
    healthPath: "/health",
    notes: endpoint.notes,
  };
  async function sample(
    request: SampleRequest,
    wireId: string,
    abort: AbortSignal,
  ): Promise<readonly RawSample[] | Trouble> {
    const sentTo = lora;
    const name = sentTo ?? base;
    const body = (generate ? generateBody : completionsBody)(request, wireId, name);
    const path = endpoint.ok ? endpoint.path : COMPLETIONS;
    const reply = await http.send({ method: "POST", path, body, limitMs: null }, abort);
    if (!reply.ok) return reply;
    const raws = (generate ? readGenerate : readCompletions)(
      reply,
      `POST ${http.url}${path}`,
      request.prompt,
    );
    if (typeof raws === "string") return trouble("incomplete", raws);
    return "ok" in raws ? raws : sampledBy(raws, sentTo);
  }
  return {
    facts,
    atOnce: (request) => (request.temperature < GREEDY_BELOW ? 1 : Infinity),
    sample,
    aborts: (_request, wireId) => [abortCall(generate, wireId)],
    readLoad: (abort) => readLoad(http, LOAD_METRICS, abort),
    readVersion: (abort) => readVersion(http, WEIGHT_INFO, abort),
    tokenize: (plain, abort) =>
      postTokenize(http, { model: model.id, prompt: plain, add_special_tokens: false }, abort),
    updateWeights: (update, abort) =>
      updateVllm(http, update, abort, (next) => {
        lora = next;
      }),
    close: async () => {},
  };
}

/** Only the ids that the server itself gave work: the client's own name does nothing. */
function abortCall(generate: boolean, wireId: string): Call {
  const id = generate ? `generate-tokens-${wireId}` : `cmpl-${wireId}-0`;
  return {
    method: "POST",
    path: "/inference/v1/abort_requests",
    body: JSON.stringify({ request_ids: [id] }),
    limitMs: CONTROL_MS,
  };
}

type Endpoint = {
  readonly ok: true;
  readonly path: typeof GENERATE | typeof COMPLETIONS;
  readonly notes: ServerFacts["notes"];
};

/** An empty body is refused by validation where the endpoint exists, and before anything runs. */
async function findEndpoint(http: Http, signal: AbortSignal): Promise<Endpoint | Trouble> {
  const call: Call = { method: "POST", path: GENERATE, body: "{}", limitMs: CONTROL_MS };
  const reply = await http.send(call, signal);
  if (!reply.ok) return reply;
  const { status } = reply;
  if (status === 400 || status === 422) return { ok: true, path: GENERATE, notes: [] };
  if (status === 403) {
    const note = {
      line: "scale-out endpoints are off: /v1/completions is used, without weight versions per token",
      fix: "restart vLLM with --enable-scale-out",
    };
    return { ok: true, path: COMPLETIONS, notes: [note] };
  }
  if (status === 404 || status === 405) {
    const line = `no ${GENERATE}: /v1/completions is used, without weight versions per token`;
    return { ok: true, path: COMPLETIONS, notes: [{ line, fix: null }] };
  }
  const json = await sendJson(http, call, signal);
  return json.ok
    ? trouble("server_error", `${http.url}${GENERATE} answered 200 to an empty request`)
    : json;
}
