/**
 * A Tinker session with its heartbeat and the sampling session in use. A new set of weights is a new sampling
 * session; samples in flight stay with the old one, so nothing ever straddles two versions.
 */
import { weightVersion, type WeightVersion } from "@interlace/core";
import type { Http } from "../http.ts";
import { fields, text } from "../raw-sample.ts";
import { sendJson } from "../read-json.ts";
import { trouble, type Trouble } from "../trouble.ts";

export type SamplingSession = { readonly id: string; readonly version: WeightVersion };

export type TinkerSession = {
  readonly ok: true;
  readonly current: () => SamplingSession;
  readonly open: (
    weights: { readonly base_model: string } | { readonly model_path: string },
    version: WeightVersion,
    signal: AbortSignal,
  ) => Promise<Trouble | null>;
  readonly close: () => Promise<void>;
};

/** The service ends a session that is silent for about a minute. */
const HEARTBEAT_MS = 10_000;
const CONTROL_MS = 60_000;

export async function openTinkerSession(
  http: Http,
  model: string,
  signal: AbortSignal,
): Promise<TinkerSession | Trouble> {
  const post = (path: string, body: object, abort: AbortSignal): ReturnType<typeof sendJson> =>
    sendJson(
      http,
      { method: "POST", path: `/api/v1/${path}`, body: JSON.stringify(body), limitMs: CONTROL_MS },
      abort,
    );
  const created = await post(
    "create_session",
    { tags: [], user_metadata: {}, sdk_version: "0.25.0", type: "create_session" },
    signal,
  );
  if (!created.ok) return created;
  const sessionId = text(fields(created.value)["session_id"]);
  if (sessionId === null) {
    return trouble("incomplete", `${http.url}/api/v1/create_session gave no session_id`);
  }
  let sampling: SamplingSession | null = null;
  let sequence = 0;
  const open: TinkerSession["open"] = async (weights, version, abort) => {
    const body = {
      session_id: sessionId,
      sampling_session_seq_id: sequence,
      ...weights,
      type: "create_sampling_session",
    };
    sequence += 1;
    const json = await post("create_sampling_session", body, abort);
    if (!json.ok) return json;
    const id = text(fields(json.value)["sampling_session_id"]);
    if (id === null) {
      return trouble(
        "incomplete",
        `${http.url}/api/v1/create_sampling_session gave no sampling_session_id`,
      );
    }
    sampling = { id, version };
    return null;
  };
  const weights = model.startsWith("tinker://") ? { model_path: model } : { base_model: model };
  const refused = await open(weights, weightVersion(model), signal);
  if (refused !== null) return refused;
  const closing = new AbortController();
  const timer = setInterval(() => {
    const body = { session_id: sessionId, type: "session_heartbeat" };
    // A lost beat shows at the next sample, with the service's own words.
    post("session_heartbeat", body, closing.signal).catch(() => {});
  }, HEARTBEAT_MS);
  timer.unref();
  return {
    ok: true,
    current: () => sampling!,
    open,
    close: async () => {
      clearInterval(timer);
      closing.abort();
    },
  };
}
