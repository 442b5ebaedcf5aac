/**
 * `POST /completion` of llama-server. Probabilities have holes where a character is spread over tokens, and the older
 * release loses the whole answer when it is no UTF-8.
 */
import type { FakeModel, FakeSampling } from "../fake-model.ts";
import { generateAll, usedPrompt } from "../fake-server.ts";
import type { Fault } from "../faults.ts";
import { endsInside, isUtf8, tokenBytes } from "../token-bytes.ts";
import { jsonResponse } from "../wire-json.ts";
import { wireSamples, type Entry, type WireSample } from "../wire-sample.ts";
import { llamaError, tooLong } from "./errors.ts";
import type { LlamacppCore } from "./options.ts";
import { readSampling, type LlamaParams } from "./sampling.ts";
import { settingsOf } from "./settings.ts";

const NOT_UTF8 = "The model produced output that does not match the expected Content-only format";

export async function complete(
  core: LlamacppCore,
  body: unknown,
  fault: Fault | null,
  signal: AbortSignal,
): Promise<Response> {
  if (typeof body !== "object" || body === null) {
    const message =
      "[json.exception.parse_error.101] parse error at line 1, column 1: syntax error while parsing value";
    return llamaError(core.release === "b10434" ? 500 : 400, message);
  }
  const fields = body as Readonly<Record<string, unknown>>;
  const ids = readPrompt(core, fields["prompt"]);
  if (ids instanceof Response) return ids;
  const read = readSampling(core, fields, core.model.context - ids.length);
  if (read instanceof Response) return read;
  const { params } = read;
  const signals = read.samples.map(() => signal);
  const samples = await generateAll(core, ids, read.samples, fault, signals);
  const kind = params.post_sampling_probs ? "processed" : core.logprobs;
  const wire = wireSamples(samples, kind, core.model, fault);
  const bytes = wire.map((sample) => sample.ids.flatMap((id) => bytesOf(core.model, id)));
  const broken = core.release === "b10434" && bytes.some((one) => !isUtf8(one));
  if (broken || fault?.type === "invalid_utf8") return llamaError(500, NOT_UTF8);
  const used = usedPrompt(ids, fault);
  const items = wire.map((sample) => {
    const sampling = read.samples[sample.index] ?? read.samples[0]!;
    return writeItem(core, used, params, sampling, sample, fault);
  });
  return jsonResponse(params.n_cmpl > 1 ? items : items[0]);
}

function readPrompt(core: LlamacppCore, prompt: unknown): readonly number[] | Response {
  if (prompt === undefined) {
    return llamaError(400, "[json.exception.out_of_range.403] key 'prompt' not found");
  }
  if (!Array.isArray(prompt) || prompt.some((id) => typeof id !== "number")) {
    return llamaError(400, "The fake server takes one prompt of token ids");
  }
  const ids: readonly number[] = prompt;
  const { context, vocabSize } = core.model;
  if (ids.length === 0) return llamaError(400, '"prompt" must not be empty');
  if (ids.some((id) => !Number.isInteger(id) || id < 0 || id >= vocabSize)) {
    return llamaError(400, "Prompt contains invalid tokens");
  }
  return ids.length >= context ? tooLong(ids.length, context) : ids;
}

function bytesOf(model: FakeModel, id: number): readonly number[] {
  // Special tokens are no text.
  return model.text([id]) === "" ? [] : tokenBytes(model.tokenizer.entryOf(id));
}

function stopType(sample: WireSample): string | null {
  if (sample.reason !== undefined) return sample.reason;
  return { stop: "eos", length: "limit", aborted: "none" }[sample.finish];
}

function writeItem(
  core: LlamacppCore,
  prompt: readonly number[],
  params: LlamaParams,
  sampling: FakeSampling,
  sample: WireSample,
  fault: Fault | null,
): object {
  const { ids } = sample;
  const { model } = core;
  const total = prompt.length + ids.length;
  const timings = {
    cache_n: 0,
    prompt_n: prompt.length,
    prompt_ms: 1,
    prompt_per_token_ms: 1 / prompt.length,
    prompt_per_second: 1000 * prompt.length,
    predicted_n: ids.length,
    predicted_ms: ids.length,
    predicted_per_token_ms: 1,
    predicted_per_second: 1000,
  };
  return {
    index: sample.index,
    content: sample.text,
    tokens: params.return_tokens ? ids : [],
    id_slot: sample.index,
    stop: true,
    model: core.modelName,
    tokens_predicted: ids.length,
    tokens_evaluated: prompt.length,
    generation_settings: settingsOf(params, sample.seed),
    prompt: model.tokenizer.decoder([]).decode(prompt),
    has_new_line: sample.text.includes("\n"),
    truncated: total >= model.context && ids.length < params.n_predict,
    stop_type: stopType(sample),
    stopping_word: "",
    tokens_cached: total - 1,
    timings,
    ...(params.n_probs > 0
      ? { completion_probabilities: probabilities(model, sample, sampling, fault) }
      : {}),
  };
}

/** A token that leaves a character open has no entry; the one that closes it has the bytes of all of them. */
function probabilities(
  model: FakeModel,
  sample: WireSample,
  sampling: FakeSampling,
  fault: Fault | null,
): readonly object[] {
  const written: object[] = [];
  let open: readonly number[] = [];
  const isFaulty = fault?.type === "holes" && (fault.sample ?? 0) === sample.index;
  for (const [at, entry] of sample.entries.entries()) {
    const bytes = [...open, ...bytesOf(model, entry.id)];
    open = endsInside(bytes) ? bytes : [];
    // A scripted hole swallows the first entry, as if it had begun a character.
    if (open.length > 0 || (isFaulty && at === 0)) continue;
    written.push(writeEntry(model, entry, bytes, sampling));
  }
  return written;
}

function writeEntry(
  model: FakeModel,
  entry: Entry,
  bytes: readonly number[],
  sampling: FakeSampling,
): object {
  const token = (raw: readonly number[]): string => new TextDecoder().decode(Uint8Array.from(raw));
  const isPost = sampling.kind === "processed";
  const value = (logprob: number | null): object => {
    if (isPost) return { prob: logprob === null ? null : Math.fround(Math.exp(logprob)) };
    return { logprob: logprob === null || Number.isNaN(logprob) ? null : logprob };
  };
  const top = entry.candidates
    .filter(({ logprob }) => logprob > -Infinity)
    .map(({ id, logprob }) => {
      const own = bytesOf(model, id);
      return { id, token: token(own), bytes: own, ...value(logprob) };
    });
  return {
    id: entry.id,
    token: token(bytes),
    bytes,
    ...value(entry.logprob),
    [isPost ? "top_probs" : "top_logprobs"]: top,
  };
}
