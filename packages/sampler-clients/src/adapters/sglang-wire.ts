/**
 * SGLang's `/generate`. In: a request, or a parsed answer. Out: a body, or raw samples. Pure; knows no HTTP.
 * n samples are a batch of n equal prompts with an id and parameters each: `n` in one item shares the seed,
 * leaks ids and cannot be aborted.
 */
import type { SampleRequest, Tokens } from "@interlace/core";
import { idsOf, rowOf, type Row } from "../cut-lists.ts";
import type { Reply } from "../http.ts";
import { promptJson } from "../prompt-json.ts";
import {
  fields,
  list,
  number,
  rawFailure,
  text,
  type RawSample,
  type RawSequence,
} from "../raw-sample.ts";
import { readCut } from "../read-cut.ts";
import type { Trouble } from "../trouble.ts";
import { SGLANG_LISTS } from "./sglang-cut.ts";

/** Aborting matches by prefix, so no id of a request may begin another: the width is fixed. */
export function requestIds(request: SampleRequest, wireId: string): readonly string[] {
  return Array.from(
    { length: request.samples },
    (_, index) => `${wireId}-${String(index).padStart(5, "0")}`,
  );
}

export function generateBody(
  request: SampleRequest,
  wireId: string,
  seeds: boolean,
  lora: string | null,
): string {
  const prompt = `[${promptJson(request.prompt)}]`;
  const ids = requestIds(request, wireId);
  const rest = {
    rid: ids,
    sampling_params: ids.map((_, index) => samplingParams(request, index, seeds)),
    return_logprob: true,
    logprob_start_len: -1,
    top_logprobs_num: 0,
    return_text_in_logprobs: false,
    return_prompt_token_ids: true,
    stream: false,
    ...(lora === null ? {} : { lora_path: ids.map(() => lora) }),
  };
  return `{"input_ids":[${ids.map(() => prompt).join(",")}],${JSON.stringify(rest).slice(1)}`;
}

function samplingParams(request: SampleRequest, index: number, seeds: boolean): object {
  return {
    max_new_tokens: request.maxTokens,
    min_new_tokens: 0,
    temperature: request.temperature,
    top_p: request.topP,
    top_k: request.topK ?? -1,
    min_p: 0,
    stop: [],
    stop_token_ids: request.stopIds,
    // true would switch the stop ids off as well.
    ignore_eos: false,
    skip_special_tokens: true,
    no_stop_trim: false,
    n: 1,
    repetition_penalty: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    // Never `seed`: an unknown key here fails the whole request.
    ...(seeds ? { sampling_seed: (request.seed + index) % 2 ** 31 } : {}),
  };
}

/** A text = the answer is no list of samples. `rows`: lists that were cut out of it before. */
export function parseGenerate(
  body: unknown,
  ids: readonly string[],
  rows: readonly Row[] = [],
): readonly RawSample[] | string {
  const items = list(body) ?? (typeof body === "object" && body !== null ? [body] : null);
  if (items === null) return "Expected an array of samples, the answer is none";
  return items.map((value, place) => parseItem(fields(value), ids, place, rows));
}

function parseItem(
  item: Readonly<Record<string, unknown>>,
  rids: readonly string[],
  place: number,
  rows: readonly Row[],
): RawSample {
  const meta = fields(item["meta_info"]);
  const named = rids.indexOf(text(meta["id"]) ?? "");
  const index = named === -1 ? place : named;
  const ended = readFinish(meta["finish_reason"]);
  if (typeof ended !== "string") return rawFailure(index, ended.cause, ended.detail);
  const ids = idsOf(item["output_ids"], rows);
  const entries = readEntries(meta["output_token_logprobs"], rows);
  if (ids === null || entries === null) {
    const detail =
      "Expected output_ids and meta_info.output_token_logprobs, the sample lacks them (does a router strip meta_info?)";
    return rawFailure(index, "incomplete", detail);
  }
  return {
    ok: true,
    index,
    ids,
    ...entries,
    finish: ended,
    versions: readSpans(meta),
    text: text(item["text"]),
    prompt: { ids: list(item["prompt_token_ids"]), length: number(meta["prompt_tokens"]) },
  };
}

type Entries = Pick<RawSequence, "logprobs" | "entryIds">;

/** `[logprob, id, text]` each. */
function readEntries(value: unknown, rows: readonly Row[]): Entries | null {
  const row = rowOf(value, rows);
  if (row?.logprobs) return { logprobs: row.logprobs, entryIds: row.ids };
  const entries = list(value);
  if (entries === null) return null;
  return {
    logprobs: entries.map((entry) => list(entry)?.[0]),
    entryIds: entries.map((entry) => list(entry)?.[1]),
  };
}

/**
 * The same from the bytes: long lists are cut out where they are as SGLang 0.5 writes them, the rest is parsed.
 */
export function readGenerate(
  reply: Reply,
  what: string,
  prompt: Tokens,
  ids: readonly string[],
): readonly RawSample[] | string | Trouble {
  const json = readCut(reply, what, SGLANG_LISTS, prompt);
  return json.ok ? parseGenerate(json.value, ids, json.rows) : json;
}

/** Spans where the server has them; else the version at the time of the answer, as the caller knows the one before. */
function readSpans(
  meta: Readonly<Record<string, unknown>>,
): readonly { version: unknown; start: unknown; end: unknown }[] | null {
  const spans = list(meta["weight_versions"]);
  if (spans === null) return null;
  return spans.map((span) => {
    const { version, start, end } = fields(span);
    return { version, start, end };
  });
}

type Bad = {
  readonly cause: "invalid_tokens" | "server_error" | "incomplete";
  readonly detail: string;
};

function readFinish(value: unknown): "stop" | "length" | "aborted" | Bad {
  const { type, matched, message, status_code } = fields(value);
  if (type === "length") return "length";
  if (type === "abort") {
    // With a status the engine gave up by itself; without one somebody aborted it.
    if (status_code === null || status_code === undefined) return "aborted";
    return { cause: "server_error", detail: `The server gave up: ${String(message)}` };
  }
  if (type === "stop") {
    // NaN logits: the sampled id was overwritten by a stop id.
    if (matched === "NaN happened") {
      return {
        cause: "invalid_tokens",
        detail: "The server saw NaN logits and made up the last id",
      };
    }
    return "stop";
  }
  const detail = `Expected finish_reason stop, length or abort, got ${JSON.stringify(value) ?? "none"}`;
  return { cause: "incomplete", detail };
}
