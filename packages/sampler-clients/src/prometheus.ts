/** Reads single metrics out of Prometheus text. Refuses to know what they mean. */
import { replyText, type Http } from "./http.ts";

/** The sum over all label sets; null = the metric is not there. */
export function readMetric(text: string, name: string): number | null {
  let sum: number | null = null;
  for (const line of text.split("\n")) {
    if (!line.startsWith(name)) continue;
    const next = line[name.length];
    if (next !== "{" && next !== " ") continue;
    const value = Number(line.slice(line.lastIndexOf(" ") + 1));
    if (Number.isFinite(value)) sum = (sum ?? 0) + value;
  }
  return sum;
}

/** The server's metrics as text; null = it has none or does not answer now. */
export async function fetchMetrics(http: Http, signal: AbortSignal): Promise<string | null> {
  const reply = await http.send({ method: "GET", path: "/metrics", limitMs: 5_000 }, signal);
  return reply.ok && reply.status === 200 ? replyText(reply) : null;
}
