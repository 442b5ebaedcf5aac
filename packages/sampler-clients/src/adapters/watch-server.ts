/** What is asked of a running server again and again: its load and its weights' name. null = it does not tell. */
import { weightVersion, type WeightVersion } from "@interlace/core";
import type { Http } from "../http.ts";
import { fetchMetrics, readMetric } from "../prometheus.ts";
import { fields, text } from "../raw-sample.ts";
import { sendJson } from "../read-json.ts";
import type { ServerLoad } from "../server.ts";

/** Which metric of a server holds each figure; null = it has none. */
export type LoadMetrics = { readonly [figure in keyof ServerLoad]: string | null };

export async function readLoad(
  http: Http,
  names: LoadMetrics,
  signal: AbortSignal,
): Promise<ServerLoad | null> {
  const metrics = await fetchMetrics(http, signal);
  if (metrics === null) return null;
  const figure = (name: string | null): number | null =>
    name === null ? null : readMetric(metrics, name);
  return {
    running: figure(names.running),
    waiting: figure(names.waiting),
    kvUsage: figure(names.kvUsage),
    preemptions: figure(names.preemptions),
  };
}

/** `weight_version` of the JSON that `path` answers. */
export async function readVersion(
  http: Http,
  path: string,
  signal: AbortSignal,
): Promise<WeightVersion | null> {
  const json = await sendJson(http, { method: "GET", path, limitMs: 30_000 }, signal);
  const name = json.ok ? text(fields(json.value)["weight_version"]) : null;
  return name === null ? null : weightVersion(name);
}
