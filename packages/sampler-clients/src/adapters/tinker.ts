/**
 * A Tinker-compatible service behind the port: session, `asample`, `retrieve_future`. Sending again with the same
 * sequence id and asking a future again are steps of this protocol, not retries: nothing is drawn twice. The
 * shapes are in `tinker-wire.ts`. There is no abort call.
 */
import { weightVersion, type SampleRequest, type WeightVersion } from "@interlace/core";
import type { Call, Http } from "../http.ts";
import { fields, list, number, text, type RawSample } from "../raw-sample.ts";
import { readJson, readStatus, sendJson } from "../read-json.ts";
import type { ConnectOptions, Server, ServerFacts } from "../server.ts";
import { trouble, type Trouble } from "../trouble.ts";
import { openTinkerSession, type SamplingSession } from "./tinker-session.ts";
import { parseFuture, sampleBody } from "./tinker-wire.ts";

const CONTROL_MS = 60_000;
/** Larger prompts are held back for longer. */
const LARGE_PROMPT_BYTES = 128 * 1024;
/** Times in a row that a future may answer nonsense (a proxy's 400, a 5xx, a broken wire) before it counts. */
const PATIENCE = 3;

export async function connectTinker(
  http: Http,
  options: ConnectOptions,
  signal: AbortSignal,
): Promise<Server | Trouble> {
  const model = await chooseModel(http, options.model, signal);
  if (!model.ok) return model;
  const session = await openTinkerSession(http, model.name, signal);
  if (!session.ok) return session;
  const facts: ServerFacts = {
    kind: "tinker",
    model: model.name,
    vocabSize: null,
    contextLength: model.contextLength,
    versionSource: "per_request",
    weightVersion: session.current().version,
    takesSeeds: true,
    stops: "server",
    healthPath: "/api/v1/healthz",
    notes: [],
  };
  let seeds = true;
  let sequenceId = 0;

  async function sample(
    request: SampleRequest,
    _wireId: string,
    abort: AbortSignal,
  ): Promise<readonly RawSample[] | Trouble> {
    if (!session.ok) return session;
    const sampling = session.current();
    const body = sampleBody(request, sampling.id, sequenceId, seeds);
    sequenceId += 1;
    // 410: the future is gone, so the original is submitted again, under its own sequence id.
    for (let attempt = 0; attempt < PATIENCE; attempt += 1) {
      const future = await submit(body, abort);
      if (typeof future !== "string") return future;
      const samples = await retrieve(future, sampling, abort);
      if (samples === "gone") continue;
      if ("cause" in samples || samples.length === request.samples) return samples;
      // Nothing in it says which is whose.
      const seen = `Expected ${request.samples} sequences, got ${samples.length}`;
      return trouble("incomplete", seen);
    }
    return trouble("server_error", `${http.url} lost the future of one request ${PATIENCE} times`);
  }

  async function submit(body: string, abort: AbortSignal): Promise<string | Trouble> {
    const backOffMs = body.length > LARGE_PROMPT_BYTES ? 5_000 : 1_000;
    for (;;) {
      const path = "/api/v1/asample";
      const headers = { "x-tinker-sampling-backpressure": "1" };
      const call: Call = { method: "POST", path, headers, body, limitMs: null };
      const reply = await http.send(call, abort);
      if (!reply.ok) return reply;
      if (reply.status === 429) {
        await options.sleep(reply.afterMs ?? backOffMs, abort);
        continue;
      }
      const json = readJson(reply, `POST ${http.url}${path}`);
      if (!json.ok) return json;
      const id = text(fields(json.value)["request_id"]);
      return id ?? trouble("incomplete", `POST ${http.url}${path} gave no request_id`);
    }
  }

  async function retrieve(
    future: string,
    sampling: SamplingSession,
    abort: AbortSignal,
  ): Promise<readonly RawSample[] | Trouble | "gone"> {
    let metadataOnly = true;
    let odd = 0;
    for (;;) {
      const reply = await http.send(retrieveCall(future, metadataOnly), abort);
      if (reply.ok && reply.status === 200) {
        const parsed = parseFuture(reply.contentType, reply.bytes, sampling.version);
        if (parsed.type === "samples") return parsed.samples;
        if (parsed.type === "failed") return parsed.trouble;
        if (parsed.type === "fetch") metadataOnly = false;
        else await options.sleep(parsed.paused ? 1_000 : 50, abort);
        odd = 0;
        continue;
      }
      if (reply.ok && reply.status === 408) continue;
      if (reply.ok && reply.status === 410) return "gone";
      odd += reply.ok && reply.status === 429 ? 0 : 1;
      const oddEnough = !reply.ok || isOdd(reply.status);
      if (oddEnough && odd <= PATIENCE) {
        await options.sleep((reply.ok ? reply.afterMs : null) ?? 1_000, abort);
        continue;
      }
      return reply.ok ? readStatus(reply, `POST ${http.url}${RETRIEVE}`) : reply;
    }
  }

  return {
    facts,
    atOnce: () => Infinity,
    sample,
    aborts: () => [],
    readLoad: async () => null,
    dropSeeds: () => {
      seeds = false;
    },
    readVersion: async (): Promise<WeightVersion | null> => session.current().version,
    tokenize: async () => null,
    updateWeights: (update, abort) =>
      session.open({ model_path: update.location }, weightVersion(update.version), abort),
    close: session.close,
  };
}

const RETRIEVE = "/api/v1/retrieve_future";

function retrieveCall(future: string, metadataOnly: boolean): Call {
  return {
    method: "POST",
    path: RETRIEVE,
    headers: { accept: "application/x-protobuf, application/json" },
    body: JSON.stringify({ request_id: future, allow_metadata_only: metadataOnly }),
    limitMs: null,
  };
}

/** Worth asking the same future again: a proxy's spurious 400, back-pressure, anything of the 5xx. */
function isOdd(status: number): boolean {
  return status === 400 || status === 429 || status >= 500;
}

type Chosen = { readonly ok: true; readonly name: string; readonly contextLength: number | null };

async function chooseModel(
  http: Http,
  wanted: string | null,
  signal: AbortSignal,
): Promise<Chosen | Trouble> {
  const path = "/api/v1/get_server_capabilities";
  const json = await sendJson(http, { method: "GET", path, limitMs: CONTROL_MS }, signal);
  if (!json.ok) return json;
  const cards = (list(fields(json.value)["supported_models"]) ?? []).map(fields);
  // A path names weights that were saved, not a model of the list.
  if (wanted?.startsWith("tinker://")) return { ok: true, name: wanted, contextLength: null };
  const card = wanted === null ? cards[0] : cards.find((one) => one["model_name"] === wanted);
  const name = text(card?.["model_name"]);
  if (name !== null) {
    return { ok: true, name, contextLength: number(card?.["max_context_length"]) };
  }
  const served = cards.map((one) => String(one["model_name"])).join(", ");
  const detail = `Expected model ${wanted ?? "(any)"} at ${http.url}, it serves ${served || "none"}`;
  return trouble("refused", detail);
}
