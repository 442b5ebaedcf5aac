/**
 * TGI behind the port: a text bridge. It takes text only, so a prompt is decoded, the server's own `/tokenize`
 * reads it back, and only when the ids are the same is anything sampled; else `drift`. The shapes are in
 * `tgi-wire.ts`.
 */
import { concatIds, type SampleRequest, type Tokens } from "@interlace/core";
import type { Http } from "../http.ts";
import { fields, number, text, type RawSample } from "../raw-sample.ts";
import { sendJson } from "../read-json.ts";
import type { ConnectOptions, Server, ServerFacts, TextCodec } from "../server.ts";
import { trouble, type Trouble } from "../trouble.ts";
import { generateBody, parseGenerate, parseTokenize, TGI_MAX_NEW_TOKENS } from "./tgi-wire.ts";
import { readLoad, type LoadMetrics } from "./watch-server.ts";

const LOAD_METRICS: LoadMetrics = {
  running: "tgi_batch_current_size",
  waiting: "tgi_queue_size",
  kvUsage: null,
  preemptions: null,
};

export async function connectTgi(
  http: Http,
  options: ConnectOptions,
  signal: AbortSignal,
): Promise<Server | Trouble> {
  const { codec } = options;
  if (codec === null) {
    return trouble("refused", "TGI takes text only: name the model's tokenizer (--tokenizer)");
  }
  const info = await sendJson(http, { method: "GET", path: "/info", limitMs: 30_000 }, signal);
  if (!info.ok) return info;
  const told = fields(info.value);
  const model = text(told["model_id"]) ?? "";
  if (options.model !== null && options.model !== model) {
    return trouble("refused", `Expected model ${options.model} at ${http.url}, it serves ${model}`);
  }
  const facts: ServerFacts = {
    kind: "tgi",
    model,
    vocabSize: null,
    contextLength: number(told["max_total_tokens"]),
    versionSource: "none",
    weightVersion: null,
    takesSeeds: true,
    stops: "cut",
    healthPath: "/health",
    notes: [
      {
        line: "text bridge: prompts whose ids do not survive decode and encode fail as drift",
        fix: null,
      },
      { line: `at most ${TGI_MAX_NEW_TOKENS} tokens per generation`, fix: null },
    ],
  };
  // Siblings share their prompt's object, so its round trip is asked for once.
  const bridged = new WeakMap<Tokens, Promise<Bridged | Trouble>>();
  async function roundTrip(prompt: Tokens, abort: AbortSignal): Promise<Bridged | Trouble> {
    const known = bridged.get(prompt) ?? bridge(http, codec!, prompt, abort);
    bridged.set(prompt, known);
    const seen = await known.catch((error: unknown) => {
      if (abort.aborted) throw error;
      return null;
    });
    // A wire fault, or the abort of a sibling, says nothing about the prompt: it is asked again.
    if (seen === null || (!seen.ok && seen.cause !== "drift")) bridged.delete(prompt);
    return seen ?? bridge(http, codec!, prompt, abort);
  }
  async function sample(
    request: SampleRequest,
    _wireId: string,
    abort: AbortSignal,
  ): Promise<readonly RawSample[] | Trouble> {
    if (request.maxTokens > TGI_MAX_NEW_TOKENS) {
      const detail = `Expected at most ${TGI_MAX_NEW_TOKENS} new tokens for TGI, got ${request.maxTokens}: lower max_assistant_tokens`;
      return trouble("refused", detail);
    }
    const prompt = await roundTrip(request.prompt, abort);
    if (!prompt.ok) return prompt;
    const body = generateBody(request, prompt.text);
    const call = { method: "POST", path: "/generate", body, limitMs: null } as const;
    const json = await sendJson(http, call, abort);
    if (!json.ok) return json;
    const counted = json.reply.header("x-prompt-tokens");
    const raw = parseGenerate(json.value, counted === null ? null : Number(counted));
    return typeof raw === "string" ? trouble("incomplete", raw) : [raw];
  }
  return {
    facts,
    atOnce: () => 1,
    sample,
    aborts: () => [],
    readLoad: (abort) => readLoad(http, LOAD_METRICS, abort),
    readVersion: async () => null,
    // It adds its own BOS, so its ids are no comparison; the bridge compares every prompt.
    tokenize: async () => null,
    updateWeights: null,
    close: async () => {},
  };
}

type Bridged = { readonly ok: true; readonly text: string };

async function bridge(
  http: Http,
  codec: TextCodec,
  prompt: Tokens,
  signal: AbortSignal,
): Promise<Bridged | Trouble> {
  const ids = concatIds(prompt);
  let seen: readonly unknown[] = [];
  // The server puts its own BOS in front: a prompt that begins with one is sent without its text.
  for (const skip of [0, 1]) {
    if (skip > ids.length) break;
    const candidate = codec.decode(ids.subarray(skip));
    const body = JSON.stringify({ inputs: candidate });
    const call = { method: "POST", path: "/tokenize", body, limitMs: 60_000 } as const;
    const json = await sendJson(http, call, signal);
    if (!json.ok) return json;
    const tokens = parseTokenize(json.value);
    if (tokens === null) return trouble("incomplete", "Expected a list of tokens from /tokenize");
    if (tokens.length === ids.length && ids.every((id, at) => tokens[at] === id)) {
      return { ok: true, text: candidate };
    }
    if (skip === 0) seen = tokens;
  }
  const at = ids.findIndex((id, place) => seen[place] !== id);
  const place = at === -1 ? ids.length : at;
  return trouble(
    "drift",
    `The prompt's text does not read back as its ids: place ${place}, expected ${ids[place] ?? "the end"}, got ${JSON.stringify(seen[place] ?? "the end")}`,
  );
}
