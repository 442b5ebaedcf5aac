/** SGLang's control plane: abort by prefix, three ways to pause, weights from disk. */
import type { Context, Hono } from "hono";
import { noteControl } from "../fake-server.ts";
import { openFakeModel } from "../fake-model.ts";
import { jsonResponse } from "../wire-json.ts";
import { valueError } from "./errors.ts";
import type { SglangCore } from "./options.ts";

type Body = Readonly<Record<string, unknown>>;

export function addControl(core: SglangCore, app: Hono): void {
  const post = (path: string, handle: (body: Body) => Response | Promise<Response>): void => {
    app.post(path, async (c: Context) => handle(((await noteControl(core, c)) ?? {}) as Body));
  };
  post("/abort_request", (body) => {
    const { rid, abort_all: all } = body;
    for (const [name, flight] of core.flights) {
      if (all === true || (typeof rid === "string" && name.startsWith(rid))) flight.abort();
    }
    return new Response("");
  });
  post("/pause_generation", (body) => {
    const mode = body["mode"] ?? "abort";
    if (mode !== "abort" && mode !== "retract" && mode !== "in_place") {
      return valueError(`Expected mode abort, retract or in_place, got ${JSON.stringify(mode)}`);
    }
    if (mode === "abort") abortAll(core);
    core.model.pause();
    core.pausedBy = mode;
    // Retracted requests compute their KV again when they go on.
    if (mode === "retract") core.model.forgetCache();
    return jsonResponse({ message: "Generation paused successfully.", status: "ok" });
  });
  post("/continue_generation", () => {
    core.pausedBy = null;
    core.model.resume();
    return jsonResponse({ message: "Generation continued successfully.", status: "ok" });
  });
  post("/update_weights_from_disk", async (body) => {
    const { model_path: path, weight_version: version } = body;
    if (body["abort_all_requests"] === true) abortAll(core);
    // A writer waits for the readers, unless they are paused.
    while (core.pausedBy === null && core.running > 0) await Bun.sleep(1);
    try {
      if (typeof path !== "string") throw new Error("model_path is missing");
      await core.model.swapWeights(path);
    } catch (error) {
      const message = `Failed to get weights iterator: ${String(error)}.`;
      return jsonResponse({ success: false, message, num_paused_requests: 0 }, 400);
    }
    if (typeof version === "string") core.model.labelVersion(version);
    if (body["flush_cache"] !== false && core.pausedBy !== "in_place") core.model.forgetCache();
    const named = typeof version === "string" ? ` Weight version updated to ${version}.` : "";
    const message = `Succeeded to update model weights.${named}`;
    return jsonResponse({ success: true, message, num_paused_requests: 0 });
  });
  post("/update_weight_version", (body) => {
    const version = body["new_version"];
    if (typeof version !== "string") return valueError("new_version is missing");
    // The default is true: everything in flight ends.
    if (body["abort_all_requests"] !== false) abortAll(core);
    core.model.labelVersion(version);
    const message = `Weight version updated to ${version}`;
    return jsonResponse({ success: true, message, new_version: version });
  });
  post("/load_lora_adapter", async (body) => {
    const { lora_name: name, lora_path: path } = body;
    if (typeof name !== "string" || typeof path !== "string" || core.adapters.has(name)) {
      const loaded = Object.fromEntries([...core.adapters.keys()].map((key) => [key, key]));
      const message = `LoRA adapter ${JSON.stringify(name)} is already loaded or has no path`;
      const answer = { success: false, error_message: message, loaded_adapters: loaded };
      return jsonResponse(answer, 400);
    }
    core.adapters.set(name, await openFakeModel(path, core.options.entropy));
    const answer = { success: true, error_message: "", loaded_adapters: { [name]: path } };
    return jsonResponse(answer);
  });
  post("/flush_cache", () => {
    if (core.running > 0) return new Response("Flush cache failed.\n", { status: 400 });
    core.model.forgetCache();
    return new Response(
      "Cache flushed.\nPlease check backend logs for more details. (When there are running or waiting requests, the operation will not be performed.)\n",
    );
  });
}

function abortAll(core: SglangCore): void {
  for (const flight of core.flights.values()) flight.abort();
}
