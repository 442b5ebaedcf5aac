/**
 * A fake vLLM 0.32: `/inference/v1/generate`, `/v1/completions`, control plane. Shapes and words are the recorded ones.
 * It does not stream, and acts on neutral penalties, stop strings and biases only – and says so when sent others.
 */
import { Hono } from "hono";
import { asServer, noteControl, openCore, underScript, type FakeServer } from "../fake-server.ts";
import { jsonResponse } from "../wire-json.ts";
import { complete } from "./completions.ts";
import { addControl } from "./control.ts";
import { missingField, vllmError } from "./errors.ts";
import { generate } from "./generate.ts";
import type { FakeVllmOptions, VllmCore } from "./options.ts";

const NO_SCALE_OUT =
  "Scale-out endpoints are disabled. Restart vllm serve with --enable-scale-out to enable them.";

export async function createFakeVllm(options: FakeVllmOptions = {}): Promise<FakeServer> {
  const core: VllmCore = {
    ...(await openCore(options, "raw")),
    vllm: {
      scaleOut: options.scaleOut ?? true,
      devMode: options.devMode ?? true,
      release: options.release ?? "0.32",
      maxNumSeqs: options.maxNumSeqs ?? 256,
    },
    flights: new Map(),
    adapters: new Map(),
    finished: { stop: 0, length: 0, abort: 0 },
  };
  const app = new Hono();
  app.notFound(() => jsonResponse({ detail: "Not Found" }, 404));
  app.post("/inference/v1/generate", (c) => {
    if (!core.vllm.scaleOut) return vllmError(403, NO_SCALE_OUT, "PermissionDeniedError");
    return underScript(core, c, (body, fault, signal) => generate(core, body, fault, signal));
  });
  app.post("/v1/completions", (c) =>
    underScript(core, c, (body, fault, signal) => complete(core, body, fault, signal)),
  );
  app.post("/tokenize", (c) =>
    underScript(core, c, async (body, fault) => tokenize(core, body, fault?.type === "drift")),
  );
  app.post("/detokenize", async (c) => {
    const body = await noteControl(core, c);
    const { tokens } = (body ?? {}) as { tokens?: unknown };
    if (!Array.isArray(tokens)) return missingField("body.tokens");
    return jsonResponse({ prompt: core.model.tokenizer.decoder([]).decode(tokens) });
  });
  app.get("/v1/models", () => {
    const names = [core.modelName, ...core.adapters.keys()];
    return jsonResponse({ object: "list", data: names.map((name) => card(core, name)) });
  });
  app.get("/version", () => jsonResponse({ version: "0.32.0" }));
  app.get("/health", () => new Response(""));
  app.get("/load", () => jsonResponse({ server_load: core.running }));
  app.get("/metrics", () => {
    const headers = { "content-type": "text/plain; version=1.0.0; charset=utf-8" };
    return new Response(metrics(core), { headers });
  });
  addControl(core, app);
  return asServer(app, core);
}

function tokenize(core: VllmCore, body: unknown, drifts: boolean): Response {
  const { prompt, return_token_strs: strings } = (body ?? {}) as Record<string, unknown>;
  if (typeof prompt !== "string") return missingField("body.prompt");
  const { tokenizer, context } = core.model;
  const ids = [...tokenizer.encode(prompt)];
  if (drifts) ids.push(0);
  return jsonResponse({
    count: ids.length,
    max_model_len: context,
    tokens: ids,
    token_strs: strings === true ? ids.map((id) => tokenizer.entryOf(id)) : null,
  });
}

function card(core: VllmCore, name: string): object {
  const adapter = name !== core.modelName;
  return {
    id: name,
    object: "model",
    created: 1_796_017_027,
    owned_by: "vllm",
    root: name,
    parent: adapter ? core.modelName : null,
    max_model_len: adapter ? null : core.model.context,
    permission: [],
  };
}

function metrics(core: VllmCore): string {
  const { live, waiting, tokens } = core.model.counts();
  const labels = `engine="0",model_name="${core.modelName}"`;
  const line = (name: string, type: string, value: number): string =>
    `# HELP vllm:${name} ${name}\n# TYPE vllm:${name} ${type}\nvllm:${name}{${labels}} ${value.toFixed(1)}\n`;
  const ends = Object.entries(core.finished).map(
    ([reason, count]) =>
      `vllm:request_success_total{engine="0",finished_reason="${reason}",model_name="${core.modelName}"} ${count.toFixed(1)}\n`,
  );
  return [
    line("num_requests_running", "gauge", live),
    line("num_requests_waiting", "gauge", waiting),
    line("kv_cache_usage_perc", "gauge", Math.min(1, live / 32)),
    line("num_preemptions_total", "counter", 0),
    line("generation_tokens_total", "counter", tokens),
    "# HELP vllm:request_success_total finished\n# TYPE vllm:request_success_total counter\n",
    ...ends,
  ].join("");
}
