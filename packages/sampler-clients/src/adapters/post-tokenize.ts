/** `/tokenize` of vLLM, SGLang and llama.cpp: one answer shape, `{tokens: [id, …]}`. */
import type { Http } from "../http.ts";
import { fields, list } from "../raw-sample.ts";
import { sendJson } from "../read-json.ts";

/** null = the route is not there or says something else. */
export async function postTokenize(
  http: Http,
  body: object,
  signal: AbortSignal,
): Promise<readonly unknown[] | null> {
  const call = { method: "POST", path: "/tokenize", limitMs: 30_000 } as const;
  const json = await sendJson(http, { ...call, body: JSON.stringify(body) }, signal);
  return json.ok ? list(fields(json.value)["tokens"]) : null;
}
