/** Which of the models behind `/v1/models` is meant (vLLM, SGLang, llama.cpp share the shape). */
import type { Http } from "../http.ts";
import { fields, list, number, text } from "../raw-sample.ts";
import { sendJson } from "../read-json.ts";
import { trouble, type Trouble } from "../trouble.ts";

export type ChosenModel = {
  readonly ok: true;
  readonly id: string;
  /** null = not told. */
  readonly contextLength: number | null;
  readonly card: Readonly<Record<string, unknown>>;
};

/** `wanted` null = the first one. */
export async function chooseModel(
  http: Http,
  wanted: string | null,
  signal: AbortSignal,
): Promise<ChosenModel | Trouble> {
  const json = await sendJson(http, { method: "GET", path: "/v1/models", limitMs: 30_000 }, signal);
  if (!json.ok) return json;
  const cards = (list(fields(json.value)["data"]) ?? []).map(fields);
  const names = cards.map((card) => text(card["id"]) ?? "");
  const at = wanted === null ? 0 : names.indexOf(wanted);
  const card = cards[at];
  const id = names[at];
  if (card === undefined || id === undefined || id === "") {
    const served = names.length === 0 ? "none" : names.join(", ");
    return trouble(
      "refused",
      `Expected model ${wanted ?? "(any)"} at ${http.url}, it serves ${served}`,
    );
  }
  // A LoRA's card names its parent, which holds the limit.
  const parent = cards.find((other) => text(other["id"]) === text(card["parent"]));
  const contextLength = number(card["max_model_len"]) ?? number(parent?.["max_model_len"]);
  return { ok: true, id, contextLength, card };
}
