/**
 * llama.cpp's server behind the port: slots, context per slot, rows of the model. The shapes are in
 * `llamacpp-wire.ts`. It has no abort call: closing the socket frees the slot. Its disconnect check waits for a
 * second without any result, so `/metrics` and `/slots` are read rarely (`limit.ts`).
 */
import type { SampleRequest } from "@interlace/core";
import type { Http } from "../http.ts";
import { fields, number, type RawSample } from "../raw-sample.ts";
import { sendJson } from "../read-json.ts";
import type { ConnectOptions, Server, ServerFacts } from "../server.ts";
import { trouble, type Trouble } from "../trouble.ts";
import { chooseModel } from "./choose-model.ts";
import { postTokenize } from "./post-tokenize.ts";
import { completionBody, parseCompletion } from "./llamacpp-wire.ts";
import { readLoad, type LoadMetrics } from "./watch-server.ts";

const LOAD_METRICS: LoadMetrics = {
  running: "llamacpp:requests_processing",
  waiting: "llamacpp:requests_deferred",
  kvUsage: null,
  preemptions: null,
};

export async function connectLlamacpp(
  http: Http,
  options: ConnectOptions,
  signal: AbortSignal,
): Promise<Server | Trouble> {
  const model = await chooseModel(http, options.model, signal);
  if (!model.ok) return model;
  const props = await sendJson(http, { method: "GET", path: "/props", limitMs: 30_000 }, signal);
  if (!props.ok) return props;
  const shown = fields(props.value);
  const slots = number(shown["total_slots"]) ?? 1;
  const meta = fields(model.card["meta"]);
  const contextLength =
    number(fields(shown["default_generation_settings"])["n_ctx"]) ?? number(meta["n_ctx"]);
  const facts: ServerFacts = {
    kind: "llamacpp",
    model: model.id,
    vocabSize: number(meta["n_vocab"]),
    contextLength,
    versionSource: "none",
    weightVersion: null,
    takesSeeds: true,
    stops: "cut",
    healthPath: "/health",
    notes: [{ line: `${slots} slots: larger groups are asked for in parts`, fix: null }],
  };
  async function sample(
    request: SampleRequest,
    _wireId: string,
    abort: AbortSignal,
  ): Promise<readonly RawSample[] | Trouble> {
    const body = completionBody(request);
    const call = { method: "POST", path: "/completion", body, limitMs: null } as const;
    const json = await sendJson(http, call, abort);
    if (!json.ok) return json;
    const raws = parseCompletion(json.value, contextLength);
    return typeof raws === "string" ? trouble("incomplete", raws) : raws;
  }
  return {
    facts,
    atOnce: () => slots,
    sample,
    aborts: () => [],
    readLoad: (abort) => readLoad(http, LOAD_METRICS, abort),
    readVersion: async () => null,
    tokenize: (plain, abort) =>
      postTokenize(http, { content: plain, add_special: false, parse_special: false }, abort),
    updateWeights: null,
    close: async () => {},
  };
}
