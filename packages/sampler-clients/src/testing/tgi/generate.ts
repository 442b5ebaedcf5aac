/** `POST /generate` of TGI with details: rules, chunks, words. */
import { z } from "zod";
import { checkFields, checkNeutral } from "../check-fields.ts";
import type { FakeSample, FakeSampling } from "../fake-model.ts";
import { generateAll, usedPrompt } from "../fake-server.ts";
import type { Fault } from "../faults.ts";
import { jsonResponse } from "../wire-json.ts";
import { wireSamples } from "../wire-sample.ts";
import type { TgiCore } from "./options.ts";

const REQUIRED: readonly string[] = ["do_sample", "max_new_tokens", "seed", "details"];
const KNOWN: readonly string[] = [
  "best_of", "temperature", "repetition_penalty", "frequency_penalty", "top_k", "top_p", "typical_p", "stop",
  "truncate", "watermark", "return_full_text", "decoder_input_details", "top_n_tokens", "grammar", "adapter_id",
]; // prettier-ignore
const NEUTRAL = {
  best_of: [null, 1],
  repetition_penalty: [null],
  frequency_penalty: [null],
  typical_p: [null],
  stop: [[], null],
  truncate: [null],
  watermark: [false, null],
  return_full_text: [false, null],
  decoder_input_details: [false, null],
  top_n_tokens: [null],
  grammar: [null],
  adapter_id: [null],
};

const paramsSchema = z.object({
  do_sample: z.boolean().nullish(),
  temperature: z.number().nullish(),
  top_k: z.int().nullish(),
  top_p: z.number().nullish(),
  max_new_tokens: z.int().nullish(),
  seed: z.number().nullish(),
  details: z.boolean().nullish(),
});

const DEFAULT_NEW_TOKENS = 100;

export function tgiError(status: number, error: string, type: string): Response {
  return jsonResponse({ error, error_type: type }, status);
}

function refuse(rule: string): Response {
  return tgiError(422, `Input validation error: ${rule}`, "validation");
}

export async function generate(
  core: TgiCore,
  body: unknown,
  fault: Fault | null,
  signal: AbortSignal,
): Promise<Response> {
  const { inputs, parameters } = (body ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof inputs !== "string") return tgiError(422, "missing field `inputs`", "validation");
  const given = (parameters ?? {}) as Readonly<Record<string, unknown>>;
  const read = readSampling(core, given);
  if (read instanceof Response) return read;
  const prompt = [...(core.bos === null ? [] : [core.bos]), ...core.model.tokenizer.encode(inputs)];
  if (prompt.length === 0) return refuse("`inputs` cannot be empty");
  const { context } = core.model;
  if (prompt.length + read.maxTokens > context) {
    return refuse(
      `\`inputs\` tokens + \`max_new_tokens\` must be <= ${context}. Given: ${prompt.length} \`inputs\` tokens and ${read.maxTokens} \`max_new_tokens\``,
    );
  }
  const sample = await inChunks(core, inputs, prompt, read, fault, signal);
  const [wire] = wireSamples([sample], core.logprobs, core.model, fault);
  if (wire === undefined) return tgiError(500, "Incomplete generation", "incomplete_generation");
  const { tokenizer } = core.model;
  const special = new Set(tokenizer.addedTokens.filter((t) => t.isSpecial).map((t) => t.id));
  const whole = tokenizer.decoder([]);
  const used = usedPrompt(prompt, fault);
  const answer = {
    generated_text: wire.text,
    details: {
      finish_reason: wire.reason === undefined ? finishOf(wire.finish) : wire.reason,
      generated_tokens: wire.ids.length,
      seed: given["seed"] ?? null,
      prefill: [],
      tokens: wire.entries.map(({ id, logprob }) => {
        const number = logprob === null || Number.isNaN(logprob) ? null : logprob;
        const text = id >= 0 && id < tokenizer.vocabSize ? whole.decode([id]) : "";
        return { id, text, logprob: number, special: special.has(id) };
      }),
    },
  };
  return jsonResponse(given["details"] === true ? answer : { generated_text: wire.text }, 200, {
    "x-compute-type": "cpu",
    "x-prompt-tokens": String(used.length),
    "x-generated-tokens": String(wire.ids.length),
  });
}

/** Length is looked at before EOS: `length` when the last allowed token ends the turn. */
function finishOf(finish: FakeSample["finish"]): string {
  return finish === "stop" ? "eos_token" : "length";
}

function readSampling(
  core: TgiCore,
  given: Readonly<Record<string, unknown>>,
): FakeSampling | Response {
  const parsed = paramsSchema.safeParse(given);
  if (!parsed.success) return refuse(parsed.error.issues[0]!.message);
  const { do_sample, temperature, top_k, top_p, max_new_tokens, seed } = parsed.data;
  const heat = temperature ?? null;
  const share = top_p ?? null;
  const among = top_k ?? null;
  if (heat !== null && heat <= 0) return refuse("`temperature` must be strictly positive");
  if (share !== null && !(share > 0 && share < 1)) return refuse("`top_p` must be > 0.0 and < 1.0");
  if (among !== null && among <= 0) return refuse("`top_k` must be strictly positive");
  const most = max_new_tokens ?? DEFAULT_NEW_TOKENS;
  if (most <= 0) return refuse("`max_new_tokens` must be strictly positive");
  if (core.strict) {
    const fields = { where: "parameters", required: REQUIRED, known: KNOWN };
    const complaints = checkFields(given, fields);
    core.complaints.push(...complaints, ...checkNeutral(given, "parameters", NEUTRAL));
    if (complaints.length > 0) return refuse(complaints.join("; "));
  }
  const samples =
    do_sample === true || (heat !== null && heat !== 1) || share !== null || among !== null;
  return {
    temperature: samples ? (heat ?? 1) : 0,
    topP: share ?? 1,
    topK: among,
    maxTokens: most,
    seed: seed ?? null,
    stopIds: [core.model.eosId],
    candidates: 0,
    kind: core.logprobs,
  };
}

/**
 * Generates `chunk` tokens at a time. Between two chunks the context becomes the ids of the decoded text, the generator
 * starts anew with the same seed, and what is left is asked in whole: the output may pass max_new_tokens.
 */
async function inChunks(
  core: TgiCore,
  inputs: string,
  prompt: readonly number[],
  sampling: FakeSampling,
  fault: Fault | null,
  signal: AbortSignal,
): Promise<FakeSample> {
  let context = prompt;
  let text = inputs;
  let all: FakeSample | null = null;
  for (;;) {
    const room = core.model.context - context.length;
    const wanted = { ...sampling, maxTokens: Math.min(core.chunk, sampling.maxTokens, room) };
    const [part] = await generateAll(core, context, [wanted], fault, [signal]);
    const ends = part!.finish === "stop" && part!.tokens.length === wanted.maxTokens;
    const whole: FakeSample = {
      ...part!,
      // The last allowed token: length comes first.
      finish: ends ? "length" : part!.finish,
      tokens: [...(all?.tokens ?? []), ...part!.tokens],
    };
    all = whole;
    text += core.model.text(part!.tokens.map(({ id }) => id));
    context = [...core.model.tokenizer.encode(text)];
    const isDone = whole.finish !== "length" || all.tokens.length >= sampling.maxTokens;
    if (isDone || context.length + 1 > core.model.context) return all;
  }
}
