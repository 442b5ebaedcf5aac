/**
 * vLLM's control plane: abort, pause, weights. Weights, their name and the cache change in separate calls, and a
 * prompt that is still cached from old weights gives wrong logprobs, silently, as at the real server.
 */
import type { Context, Hono } from "hono";
import { noteControl } from "../fake-server.ts";
import { openFakeModel } from "../fake-model.ts";
import { jsonResponse } from "../wire-json.ts";
import { invalid, missingField, notFound, vllmError } from "./errors.ts";
import type { VllmCore } from "./options.ts";

type Body = Readonly<Record<string, unknown>>;
type Handler = (body: Body, c: Context) => Response | Promise<Response>;

export function addControl(core: VllmCore, app: Hono): void {
  const on = (method: "GET" | "POST", path: string, dev: boolean, handle: Handler): void => {
    app.on(method, path, async (c) => {
      const body = await noteControl(core, c);
      if (dev && !core.vllm.devMode) return notFound();
      return handle((body ?? {}) as Body, c);
    });
  };
  const busy = (): boolean => core.running > 0;

  on("POST", "/inference/v1/abort_requests", false, (body) => {
    const ids = body["request_ids"];
    if (!Array.isArray(ids)) {
      return vllmError(400, "Missing 'request_ids' in request body", "Bad Request");
    }
    abort(core, ids.map(String));
    return new Response("");
  });
  on("POST", "/abort_requests", true, (body) => {
    const ids = Array.isArray(body["request_ids"]) ? body["request_ids"].map(String) : [];
    // An empty list means everything; the count is of what was asked, not of what was found.
    const wanted = ids.length === 0 ? [...core.flights.keys()] : ids;
    abort(core, wanted);
    return jsonResponse({ status: "aborted", aborted: wanted.length });
  });
  on("POST", "/pause", true, async (_body, c) => {
    const mode = c.req.query("mode") ?? "abort";
    if (mode !== "abort" && mode !== "wait" && mode !== "keep") {
      const message = "Input should be \\'abort\\', \\'wait\\' or \\'keep\\'";
      return invalid("literal_error", "query.mode", message, mode);
    }
    if (mode === "abort") abort(core, [...core.flights.keys()]);
    if (mode === "wait") while (busy()) await Bun.sleep(1);
    core.model.pause();
    if (c.req.query("clear_cache") !== "false") core.model.forgetCache();
    return jsonResponse({ status: "paused" });
  });
  on("POST", "/resume", true, () => {
    core.model.resume();
    return jsonResponse({ status: "resumed" });
  });
  on("GET", "/is_paused", true, () => jsonResponse({ is_paused: core.model.paused() }));
  on("POST", "/reset_prefix_cache", true, () => {
    const success = !busy();
    if (success) core.model.forgetCache();
    return jsonResponse({ success });
  });
  on("POST", "/collective_rpc", true, async (body) => {
    const { weights_path: path } = (body["kwargs"] ?? {}) as { weights_path?: unknown };
    if (body["method"] !== "reload_weights" || typeof path !== "string") {
      return vllmError(400, "The fake server runs reload_weights with weights_path only");
    }
    try {
      await core.model.swapWeights(path);
    } catch (error) {
      return vllmError(500, String(error), "InternalServerError");
    }
    return jsonResponse({ results: [null] });
  });
  on("POST", "/update_weight_version", true, (body) => {
    const version = body["new_version"];
    if (typeof version !== "string") return missingField("body.new_version");
    core.model.labelVersion(version);
    return jsonResponse({ success: true, new_version: version });
  });
  on("GET", "/weight_info", true, () => jsonResponse({ weight_version: core.model.version() }));
  on("GET", "/get_world_size", true, () => jsonResponse({ world_size: 1 }));
  on("GET", "/is_sleeping", true, () => jsonResponse({ is_sleeping: false }));
  on("GET", "/server_info", true, () => {
    const mode = core.logprobs === "processed" ? "processed_logprobs" : "raw_logprobs";
    const config = {
      model: core.modelName,
      max_model_len: core.model.context,
      logprobs_mode: mode,
    };
    return jsonResponse({ vllm_config: { model_config: config } });
  });
  on("POST", "/v1/load_lora_adapter", false, async (body) => {
    const { lora_name: name, lora_path: path } = body;
    if (typeof name !== "string" || typeof path !== "string") return missingField("body.lora_name");
    if (core.adapters.has(name)) {
      const message = `The lora adapter '${name}' has already been loaded.`;
      return vllmError(400, message, "InvalidUserInput");
    }
    core.adapters.set(name, await openFakeModel(path, core.options.entropy));
    return new Response(`Success: LoRA adapter '${name}' added successfully.`);
  });
}

function abort(core: VllmCore, ids: readonly string[]): void {
  for (const id of ids) for (const flight of core.flights.get(id) ?? []) flight.abort();
}
