/**
 * A fake llama-server: `/completion` with ids and its neighbours. Shapes and words are the recorded ones. It does not
 * stream, and acts on neutral samplers only – and says so when sent others. No abort call, no versions, no new weights.
 */
import { Hono } from "hono";
import { asServer, noteControl, openCore, underScript, type FakeServer } from "../fake-server.ts";
import { jsonResponse } from "../wire-json.ts";
import { complete } from "./completion.ts";
import { llamaError } from "./errors.ts";
import type { FakeLlamacppOptions, LlamacppCore } from "./options.ts";
import { defaultSettings } from "./settings.ts";

const DEFAULTS = {
  n_predict: -1,
  n_cmpl: 1,
  seed: -1,
  temperature: 0.8,
  top_k: 40,
  top_p: 0.95,
  min_p: 0.05,
  samplers: [
    "penalties",
    "dry",
    "top_n_sigma",
    "top_k",
    "typ_p",
    "top_p",
    "min_p",
    "xtc",
    "temperature",
  ],
  ignore_eos: false,
  n_probs: 0,
  post_sampling_probs: false,
  return_tokens: false,
  stream: false,
};

export async function createFakeLlamacpp(options: FakeLlamacppOptions = {}): Promise<FakeServer> {
  const opened = await openCore(options, "raw");
  const core: LlamacppCore = {
    ...opened,
    slots: options.slots ?? 4,
    release: options.release ?? "b11434",
    vocabSize: options.vocabSize ?? opened.model.vocabSize,
  };
  const app = new Hono();
  app.notFound(() => llamaError(404, "File Not Found"));
  for (const path of ["/completion", "/completions"]) {
    app.post(path, (c) =>
      underScript(core, c, (body, fault, signal) => complete(core, body, fault, signal)),
    );
  }
  app.post("/tokenize", (c) =>
    underScript(core, c, async (body, fault) => tokenize(core, body, fault?.type === "drift")),
  );
  app.post("/detokenize", async (c) => {
    const { tokens } = ((await noteControl(core, c)) ?? {}) as { tokens?: unknown };
    if (!Array.isArray(tokens)) return llamaError(400, "tokens is missing");
    return jsonResponse({ content: core.model.tokenizer.decoder([]).decode(tokens) });
  });
  app.get("/health", () => jsonResponse({ status: "ok" }));
  app.get("/v1/models", () => jsonResponse(models(core)));
  app.get("/props", () => jsonResponse(props(core)));
  app.get("/slots", () => {
    const { live } = core.model.counts();
    const slots = Array.from({ length: core.slots }, (_, id) => {
      return { id, n_ctx: core.model.context, speculative: false, is_processing: id < live };
    });
    return jsonResponse(slots);
  });
  app.get("/metrics", () => {
    const headers = { "content-type": "text/plain; version=0.0.4" };
    return new Response(metrics(core), { headers });
  });
  return asServer(app, core);
}

function tokenize(core: LlamacppCore, body: unknown, drifts: boolean): Response {
  const { content, parse_special: special } = (body ?? {}) as Record<string, unknown>;
  const text = typeof content === "string" ? content : "";
  const { tokenizer } = core.model;
  const plain = special === false;
  const tokens = [
    ...(plain ? tokenizer.encodePieces([{ trusted: false, text }]) : tokenizer.encode(text)),
  ];
  if (drifts) tokens.push(0);
  return jsonResponse({ tokens });
}

function models(core: LlamacppCore): object {
  const name = core.modelName;
  const meta = {
    vocab_type: 2,
    n_vocab: core.vocabSize,
    n_ctx: core.model.context,
    n_ctx_train: core.model.context,
    n_embd: 128,
    n_params: 557_952,
    size: 2_231_808,
    ftype: "all F32",
  };
  return {
    models: [
      {
        name,
        model: name,
        modified_at: "",
        size: "",
        digest: "",
        type: "model",
        description: "",
        tags: [""],
        capabilities: ["completion"],
        parameters: "",
        details: {
          parent_model: "",
          format: "gguf",
          family: "",
          families: [""],
          parameter_size: "",
          quantization_level: "",
        },
      },
    ],
    object: "list",
    data: [
      {
        id: name,
        aliases: [name],
        tags: [],
        object: "model",
        architecture: { input_modalities: ["text"], output_modalities: ["text"] },
        created: 1_796_018_053,
        owned_by: "llamacpp",
        meta,
      },
    ],
  };
}

function props(core: LlamacppCore): object {
  return {
    default_generation_settings: {
      params: defaultSettings(DEFAULTS),
      n_ctx: core.model.context,
    },
    total_slots: core.slots,
    model_alias: core.modelName,
    model_ftype: "all F32",
    model_path: `${core.modelName}.gguf`,
    modalities: { vision: false, video: false, audio: false },
    media_marker: "",
    endpoint_slots: true,
    endpoint_props: false,
    endpoint_metrics: true,
    ui: false,
    ui_settings: {},
    chat_template: core.model.tokenizer.chatTemplate ?? "",
    chat_template_caps: {
      supports_object_arguments: false,
      supports_parallel_tool_calls: false,
      supports_preserve_reasoning: false,
      supports_reasoning_effort: false,
      supports_string_content: true,
      supports_system_role: true,
      supports_tool_calls: true,
      supports_tools: true,
      supports_typed_content: false,
    },
    bos_token: "",
    eos_token: core.model.tokenizer.specialTexts["eos_token"] ?? "",
    build_info: "b0-unknown",
    is_sleeping: false,
    cors_proxy_enabled: false,
  };
}

function metrics(core: LlamacppCore): string {
  const { live, waiting, tokens, steps } = core.model.counts();
  const values: readonly (readonly [string, string, number])[] = [
    ["tokens_predicted_total", "counter", tokens],
    ["n_decode_total", "counter", steps],
    ["requests_processing", "gauge", Math.min(live, core.slots)],
    ["requests_deferred", "gauge", waiting + Math.max(0, live - core.slots)],
  ];
  return values
    .map(
      ([name, type, value]) =>
        `# HELP llamacpp:${name} ${name}\n# TYPE llamacpp:${name} ${type}\nllamacpp:${name} ${value}\n`,
    )
    .join("");
}
