/**
 * New weights for a running SGLang. `abort_all_requests` is always false: its default kills everything in
 * flight. Running requests are retracted for the change, so that their KV is computed again by the new weights.
 */
import type { Http } from "../http.ts";
import type { WeightUpdate } from "../server.ts";
import type { Trouble } from "../trouble.ts";
import { postAll, postControl, type Control } from "./control.ts";

export async function updateSglang(
  http: Http,
  update: WeightUpdate,
  signal: AbortSignal,
  useLora: (name: string) => void,
): Promise<Trouble | null> {
  if (update.form === "lora") {
    const body = { lora_name: update.version, lora_path: update.location };
    const loaded = await postControl(http, { path: "/load_lora_adapter", body }, signal);
    if (loaded === null) useLora(update.version);
    return loaded;
  }
  const load: Control = {
    path: "/update_weights_from_disk",
    body: {
      model_path: update.location,
      weight_version: update.version,
      abort_all_requests: false,
      flush_cache: true,
    },
  };
  if (!update.busy) return postControl(http, load, signal);
  const pause: Control = { path: "/pause_generation", body: { mode: "retract" } };
  return postAll(http, [pause, load], [{ path: "/continue_generation", body: {} }], signal);
}
