/**
 * vLLM's two ways of token ids in, token ids out. In: a request, or a parsed answer. Out: a body, or raw
 * samples. Pure; knows no HTTP. Shapes: `/inference/v1/generate` (0.32 and the older `token: "token_id:N"`
 * entries), `/v1/completions` with `return_token_ids`.
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
  type PromptEcho,
  type RawSample,
  type RawSpan,
} from "../raw-sample.ts";
import { readCut } from "../read-cut.ts";
import type { Trouble } from "../trouble.ts";
import { COMPLETIONS_LISTS, GENERATE_LISTS } from "./vllm-cut.ts";

/** Every field is sent: `/v1/completions` fills the others from the model's generation_config. */
function samplingFields(request: SampleRequest): Record<string, unknown> {
  return {
    n: request.samples,
    max_tokens: request.maxTokens,
    min_tokens: 0,
    temperature: request.temperature,
    top_p: request.topP,
    top_k: request.topK ?? 0,
    min_p: 0,
    seed: request.seed,
    stop: [],
    stop_token_ids: request.stopIds,
    ignore_eos: false,
    repetition_penalty: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    logprobs: 0,
  };
}

export function generateBody(request: SampleRequest, wireId: string, model: string): string {
  const params = { ...samplingFields(request), prompt_logprobs: null, detokenize: false };
  const head = { request_id: wireId, model, stream: false, return_token_ids: true };
  return joinBody(head, "token_ids", request, { sampling_params: params });
}

export function completionsBody(request: SampleRequest, wireId: string, model: string): string {
  const head = { request_id: wireId, model, stream: false, echo: false, add_special_tokens: false };
  return joinBody(head, "prompt", request, {
    ...samplingFields(request),
    return_token_ids: true,
    return_tokens_as_token_ids: true,
  });
}

function joinBody(head: object, name: string, request: SampleRequest, tail: object): string {
  const before = JSON.stringify(head).slice(0, -1);
  return `${before},"${name}":[${promptJson(request.prompt)}],${JSON.stringify(tail).slice(1)}`;
}

/** A text = the answer has no choices at all. `rows`: lists that were cut out of it before. */
export function parseGenerate(
  body: unknown,
  rows: readonly Row[] = [],
): readonly RawSample[] | string {
  return parseChoices(body, rows, "token_ids and logprobs.content", (choice) => {
    const { content } = fields(choice["logprobs"]);
    const row = rowOf(content, rows);
    if (row?.logprobs) return { logprobs: row.logprobs, entryIds: row.ids, text: null };
    const entries = list(content);
    if (entries === null) return null;
    return {
      logprobs: entries.map((entry) => fields(entry)["logprob"]),
      entryIds: entries.map(entryId),
      text: null,
    };
  });
}

/**
 * The same from the bytes: long lists are cut out where they are as vLLM 0.32 writes them, the rest is parsed.
 */
export function readGenerate(
  reply: Reply,
  what: string,
  prompt: Tokens,
): readonly RawSample[] | string | Trouble {
  const json = readCut(reply, what, GENERATE_LISTS, prompt);
  return json.ok ? parseGenerate(json.value, json.rows) : json;
}

export function parseCompletions(
  body: unknown,
  rows: readonly Row[] = [],
): readonly RawSample[] | string {
  return parseChoices(body, rows, "token_ids and logprobs.token_logprobs", (choice) => {
    const { token_logprobs, tokens } = fields(choice["logprobs"]);
    const logprobs = rowOf(token_logprobs, rows)?.logprobs ?? list(token_logprobs);
    if (logprobs === null) return null;
    const entryIds = rowOf(tokens, rows)?.ids ?? namedIds(tokens);
    return { logprobs, entryIds, text: text(choice["text"]) };
  });
}

/** The same from the bytes, as above. */
export function readCompletions(
  reply: Reply,
  what: string,
  prompt: Tokens,
): readonly RawSample[] | string | Trouble {
  const json = readCut(reply, what, COMPLETIONS_LISTS, prompt);
  return json.ok ? parseCompletions(json.value, json.rows) : json;
}

type Entries = {
  readonly logprobs: ArrayLike<unknown>;
  readonly entryIds: ArrayLike<unknown> | null;
  readonly text: string | null;
};

function parseChoices(
  body: unknown,
  rows: readonly Row[],
  wanted: string,
  readEntries: (choice: Readonly<Record<string, unknown>>) => Entries | null,
): readonly RawSample[] | string {
  const answer = fields(body);
  const choices = list(answer["choices"]);
  if (choices === null) return "Expected `choices`, the answer has none";
  const used = number(fields(answer["usage"])["prompt_tokens"]);
  const echoed = list(answer["prompt_token_ids"]);
  return choices.map((value, place): RawSample => {
    const choice = fields(value);
    const index = number(choice["index"]) ?? place;
    const ended = readFinish(choice["finish_reason"]);
    if (ended.failure !== null) return rawFailure(index, ended.failure.cause, ended.failure.detail);
    const ids = idsOf(choice["token_ids"], rows);
    const entries = readEntries(choice);
    if (ids === null || entries === null) {
      return rawFailure(index, "incomplete", `Expected ${wanted}, the choice lacks them`);
    }
    const prompt: PromptEcho = { ids: echoed ?? list(choice["prompt_token_ids"]), length: used };
    return {
      ok: true,
      index,
      ids,
      finish: ended.finish,
      versions: readSpans(choice),
      prompt,
      ...entries,
    };
  });
}

function readSpans(choice: Readonly<Record<string, unknown>>): readonly RawSpan[] | null {
  const spans = list(choice["weight_versions"]);
  if (spans === null) return null;
  return spans.map((span) => {
    const { version, start, end } = fields(span);
    return { version, start, end };
  });
}

type Ended =
  | { readonly finish: "stop" | "length" | "aborted"; readonly failure: null }
  | {
      readonly failure: { readonly cause: "server_error" | "incomplete"; readonly detail: string };
    };

function readFinish(reason: unknown): Ended {
  if (reason === "stop" || reason === "length") return { finish: reason, failure: null };
  if (reason === "abort") return { finish: "aborted", failure: null };
  if (reason === "error") {
    const detail = "The server ended the sequence with finish_reason error";
    return { failure: { cause: "server_error", detail } };
  }
  const detail = `Expected finish_reason stop, length or abort, got ${JSON.stringify(reason) ?? "none"}`;
  return { failure: { cause: "incomplete", detail } };
}

/** `{token_id: 5}` since 0.32, `{token: "token_id:5"}` before. */
function entryId(entry: unknown): unknown {
  const { token_id, token } = fields(entry);
  return token_id ?? namedId(token) ?? token;
}

/** null = not every token is named by its id. */
function namedIds(tokens: unknown): readonly unknown[] | null {
  const named = list(tokens)?.map(namedId) ?? null;
  return named === null || named.includes(null) ? null : named;
}

function namedId(token: unknown): number | null {
  const found = typeof token === "string" ? /^token_id:(-?\d+)$/.exec(token) : null;
  return found ? Number(found[1]) : null;
}
