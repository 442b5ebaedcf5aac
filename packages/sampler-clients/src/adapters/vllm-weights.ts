/**
 * New weights for a running vLLM (needs VLLM_SERVER_DEV_MODE=1; LoRA: VLLM_ALLOW_RUNTIME_LORA_UPDATING=1).
 * The KV of the old weights must go: without that a cached prompt gives logprobs off by nats, silently.
 */
import type { Http } from "../http.ts";
import { fields } from "../raw-sample.ts";
import { sendJson } from "../read-json.ts";
import type { WeightUpdate } from "../server.ts";
import { trouble, type Trouble } from "../trouble.ts";
import { postAll, postControl, type Control } from "./control.ts";

export async function updateVllm(
  http: Http,
  update: WeightUpdate,
  signal: AbortSignal,
  useModel: (name: string) => void,
): Promise<Trouble | null> {
  if (update.form === "lora") return loadLora(http, update, signal, useModel);
  const load: readonly Control[] = [
    {
      path: "/collective_rpc",
      body: { method: "reload_weights", kwargs: { weights_path: update.location } },
    },
    { path: "/update_weight_version", body: { new_version: update.version } },
  ];
  if (update.busy) {
    // Frozen, not aborted; clearing the cache makes the running requests compute their KV again.
    const pause: Control = { path: "/pause?mode=keep&clear_cache=true", body: {} };
    return postAll(http, [pause, ...load], [{ path: "/resume", body: {} }], signal);
  }
  const loaded = await postAll(http, load, [], signal);
  return loaded ?? resetCache(http, signal);
}

/** `false` = some block is still held, which cannot be when nothing runs; then new samples would be wrong. */
async function resetCache(http: Http, signal: AbortSignal): Promise<Trouble | null> {
  const call = {
    method: "POST",
    path: "/reset_prefix_cache",
    body: "{}",
    limitMs: 60_000,
  } as const;
  const json = await sendJson(http, call, signal);
  if (!json.ok) return json;
  if (fields(json.value)["success"] === true) return null;
  return trouble(
    "server_error",
    `${http.url}/reset_prefix_cache could not drop the old KV: something else samples from this server`,
  );
}

/** Each version is a new name: a reload under the same name serves stale prefix-cache blocks. */
async function loadLora(
  http: Http,
  update: WeightUpdate,
  signal: AbortSignal,
  useModel: (name: string) => void,
): Promise<Trouble | null> {
  const body = { lora_name: update.version, lora_path: update.location };
  const loaded = await postControl(http, { path: "/v1/load_lora_adapter", body }, signal);
  if (loaded === null) useModel(update.version);
  return loaded;
}
