/**
 * SGLang behind the port: what it says of itself, how it is told to stop. The shapes are in `sglang-wire.ts`.
 * One prompt id outside the vocabulary ends its process, so ids are checked before anything is sent (`backend.ts`).
 */
import type { SampleRequest } from "@interlace/core";
import type { Http } from "../http.ts";
import { fields, sampledBy, type RawSample } from "../raw-sample.ts";
import { sendJson } from "../read-json.ts";
import type { ConnectOptions, Server, ServerFacts } from "../server.ts";
import { trouble, type Trouble } from "../trouble.ts";
import { chooseModel } from "./choose-model.ts";
import { updateSglang } from "./sglang-weights.ts";
import { postTokenize } from "./post-tokenize.ts";
import { generateBody, readGenerate, requestIds } from "./sglang-wire.ts";
import { readLoad, readVersion, type LoadMetrics } from "./watch-server.ts";

const MODEL_INFO = "/model_info";

const LOAD_METRICS: LoadMetrics = {
  running: "sglang:num_running_reqs",
  waiting: "sglang:num_queue_reqs",
  kvUsage: "sglang:token_usage",
  preemptions: "sglang:num_retracted_reqs",
};

const CONTROL_MS = 30_000;

export async function connectSglang(
  http: Http,
  options: ConnectOptions,
  signal: AbortSignal,
): Promise<Server | Trouble> {
  const model = await chooseModel(http, options.model, signal);
  if (!model.ok) return model;
  const deterministic = await readDeterminism(http, signal);
  const version = await readVersion(http, MODEL_INFO, signal);
  const facts: ServerFacts = {
    kind: "sglang",
    model: model.id,
    vocabSize: null,
    contextLength: model.contextLength,
    versionSource: version === null ? "none" : "per_token",
    weightVersion: version,
    takesSeeds: deterministic,
    stops: "server",
    healthPath: "/health",
    notes: deterministic
      ? []
      : [
          {
            line: "seeds are ignored: the server is not deterministic",
            fix: "start SGLang with --enable-deterministic-inference, if runs must repeat",
          },
        ],
  };
  let seeds = deterministic;
  let lora: string | null = null;
  async function sample(
    request: SampleRequest,
    wireId: string,
    abort: AbortSignal,
  ): Promise<readonly RawSample[] | Trouble> {
    const sentTo = lora;
    const body = generateBody(request, wireId, seeds, sentTo);
    const call = { method: "POST", path: "/generate", body, limitMs: null } as const;
    const reply = await http.send(call, abort);
    if (!reply.ok) return reply;
    const raws = readGenerate(
      reply,
      `POST ${http.url}/generate`,
      request.prompt,
      requestIds(request, wireId),
    );
    if (typeof raws === "string") return trouble("incomplete", raws);
    return "ok" in raws ? raws : sampledBy(raws, sentTo);
  }
  return {
    facts,
    atOnce: () => Infinity,
    sample,
    aborts: (request, wireId) =>
      requestIds(request, wireId).map((rid) => ({
        method: "POST",
        path: "/abort_request",
        body: JSON.stringify({ rid, abort_all: false }),
        limitMs: CONTROL_MS,
      })),
    readLoad: (abort) => readLoad(http, LOAD_METRICS, abort),
    dropSeeds: () => {
      seeds = false;
    },
    readVersion: (abort) => readVersion(http, MODEL_INFO, abort),
    tokenize: (plain, abort) =>
      postTokenize(http, { model: model.id, prompt: plain, add_special_tokens: false }, abort),
    updateWeights: (update, abort) =>
      updateSglang(http, update, abort, (next) => {
        lora = next;
      }),
    close: async () => {},
  };
}

async function readDeterminism(http: Http, signal: AbortSignal): Promise<boolean> {
  const call = { method: "GET", path: "/server_info", limitMs: CONTROL_MS } as const;
  const json = await sendJson(http, call, signal);
  return json.ok && fields(json.value)["enable_deterministic_inference"] === true;
}
