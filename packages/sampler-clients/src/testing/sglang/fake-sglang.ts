/**
 * A fake SGLang 0.5: `/generate` and its control plane. Shapes and words are the recorded ones. It does not stream, and
 * acts on neutral penalties, stop strings and biases only – and says so when sent others.
 */
import { Hono } from "hono";
import { asServer, noteControl, openCore, underScript, type FakeServer } from "../fake-server.ts";
import { WIRE_HEADER } from "../wire-fault.ts";
import { jsonResponse } from "../wire-json.ts";
import { addControl } from "./control.ts";
import { valueError } from "./errors.ts";
import { generate } from "./generate.ts";
import type { FakeSglangOptions, SglangCore } from "./options.ts";

export async function createFakeSglang(options: FakeSglangOptions = {}): Promise<FakeServer> {
  const core: SglangCore = {
    ...(await openCore(options, "temperature_scaled")),
    deterministic: options.deterministic ?? false,
    flights: new Map(),
    adapters: new Map(),
    pausedBy: null,
    dead: false,
  };
  const app = new Hono();
  app.notFound(() => jsonResponse({ detail: "Not Found" }, 404));
  app.use(async (c, next) => {
    if (!core.dead) await next();
    // A process that is gone closes its sockets, also that of the request it died of.
    if (core.dead)
      c.res = new Response(null, { headers: { [WIRE_HEADER]: "reset_before_headers" } });
  });
  app.on(["POST", "PUT"], "/generate", (c) =>
    underScript(core, c, (body, fault, signal) => generate(core, body, fault, signal)),
  );
  for (const path of ["/tokenize", "/v1/tokenize"]) {
    app.post(path, (c) =>
      underScript(core, c, async (body, fault) => tokenize(core, body, fault?.type === "drift")),
    );
  }
  app.post("/detokenize", async (c) => {
    const { tokens } = ((await noteControl(core, c)) ?? {}) as { tokens?: unknown };
    if (!Array.isArray(tokens)) return valueError("tokens is missing");
    return jsonResponse({ text: core.model.text(tokens) });
  });
  app.get("/v1/models", () => jsonResponse({ object: "list", data: [card(core)] }));
  for (const path of ["/model_info", "/get_model_info"]) {
    app.get(path, () => jsonResponse(modelInfo(core)));
  }
  app.get("/server_info", () =>
    jsonResponse({
      model_path: core.modelName,
      tokenizer_path: core.modelName,
      context_length: core.model.context,
      enable_deterministic_inference: core.deterministic,
      version: "0.5.23",
    }),
  );
  app.get("/health", () => new Response(""));
  app.get("/health_generate", () => new Response(""));
  app.get("/metrics", () => {
    const headers = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };
    return new Response(metrics(core), { headers });
  });
  addControl(core, app);
  return asServer(app, core);
}

function tokenize(core: SglangCore, body: unknown, drifts: boolean): Response {
  const { prompt } = (body ?? {}) as { prompt?: unknown };
  if (typeof prompt !== "string") return valueError("prompt is missing");
  const tokens = [...core.model.tokenizer.encode(prompt)];
  if (drifts) tokens.push(0);
  return jsonResponse({ tokens, count: tokens.length, max_model_len: core.model.context });
}

function card(core: SglangCore): object {
  return {
    id: core.modelName,
    object: "model",
    created: 1_796_018_227,
    owned_by: "sglang",
    root: core.modelName,
    parent: null,
    max_model_len: core.model.context,
  };
}

function modelInfo(core: SglangCore): object {
  return {
    model_path: core.modelName,
    served_model_name: core.modelName,
    tokenizer_path: core.modelName,
    is_generation: true,
    preferred_sampling_params: null,
    weight_version: core.model.version(),
    load_format: "auto",
    has_image_understanding: false,
    has_audio_understanding: false,
    model_type: "llama",
    architectures: ["LlamaForCausalLM"],
  };
}

function metrics(core: SglangCore): string {
  const { live, waiting } = core.model.counts();
  const labels = `engine_type="unified",model_name="${core.modelName}"`;
  const values: readonly (readonly [string, number])[] = [
    ["num_running_reqs", live],
    ["num_queue_reqs", waiting],
    ["token_usage", Math.min(1, live / 32)],
    ["num_retracted_reqs", 0],
    ["num_paused_reqs", core.pausedBy === null ? 0 : core.running],
  ];
  return values
    .map(
      ([name, value]) =>
        `# HELP sglang:${name} ${name}\n# TYPE sglang:${name} gauge\nsglang:${name}{${labels}} ${value.toFixed(1)}\n`,
    )
    .join("");
}
