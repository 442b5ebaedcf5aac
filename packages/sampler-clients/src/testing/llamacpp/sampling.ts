/** llama.cpp's sampling fields: defaults that are not neutral, 32-bit seeds, no stop ids. */
import { z } from "zod";
import { checkFields, checkNeutral } from "../check-fields.ts";
import type { FakeSampling } from "../fake-model.ts";
import type { LlamacppCore } from "./options.ts";
import { llamaError } from "./errors.ts";

const REQUIRED: readonly string[] = [
  "prompt", "n_predict", "n_cmpl", "seed", "temperature", "top_k", "top_p", "min_p", "typical_p", "repeat_penalty",
  "presence_penalty", "frequency_penalty", "samplers", "n_probs", "post_sampling_probs", "return_tokens",
  "ignore_eos", "stream",
]; // prettier-ignore
const KNOWN: readonly string[] = [
  "top_n_sigma", "xtc_probability", "xtc_threshold", "dynatemp_range", "dynatemp_exponent", "mirostat",
  "mirostat_tau", "mirostat_eta", "dry_multiplier", "dry_base", "dry_allowed_length", "dry_penalty_last_n",
  "repeat_last_n", "stop", "logit_bias", "cache_prompt", "id_slot", "lora", "t_max_predict_ms",
  "response_fields", "n_keep", "min_keep", "grammar", "timings_per_token",
]; // prettier-ignore
const NEUTRAL = {
  min_p: [0],
  typical_p: [1],
  top_n_sigma: [-1],
  xtc_probability: [0],
  dynatemp_range: [0],
  mirostat: [0],
  dry_multiplier: [0],
  repeat_penalty: [1],
  presence_penalty: [0],
  frequency_penalty: [0],
  stop: [[]],
  logit_bias: [[]],
  lora: [[]],
  // Temperature first, as the policy's draw does it.
  samplers: [["temperature"], ["temperature", "top_k", "top_p"]],
};

const paramsSchema = z.object({
  n_predict: z.number().default(-1),
  n_cmpl: z.int().default(1),
  seed: z.number().default(-1),
  temperature: z.number().default(0.8),
  top_k: z.int().default(40),
  top_p: z.number().default(0.95),
  min_p: z.number().default(0.05),
  samplers: z.array(z.string()).default(["top_k", "top_p", "temperature"]),
  ignore_eos: z.boolean().default(false),
  n_probs: z.int().default(0),
  post_sampling_probs: z.boolean().default(false),
  return_tokens: z.boolean().default(false),
  stream: z.boolean().default(false),
});

export type LlamaParams = z.output<typeof paramsSchema>;

export type LlamaSampling = {
  readonly params: LlamaParams;
  readonly samples: readonly FakeSampling[];
};

/** `room`: tokens that the slot's context leaves. */
export function readSampling(
  core: LlamacppCore,
  fields: Readonly<Record<string, unknown>>,
  room: number,
): LlamaSampling | Response {
  const parsed = paramsSchema.safeParse(fields);
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!;
    const name = issue.path.join(".");
    return llamaError(400, `Field '${name}': [json.exception.type_error.302] ${issue.message}`);
  }
  const params = parsed.data;
  if (params.n_cmpl < 1 || params.n_cmpl > core.slots) {
    const message = `Field 'n_cmpl': Value must be between 1 <= value <= ${core.slots}, but got ${params.n_cmpl}`;
    return llamaError(400, message);
  }
  if (core.strict) {
    const where = "the body";
    const complaints = checkFields(fields, { where, required: REQUIRED, known: KNOWN });
    core.complaints.push(...complaints, ...checkNeutral(fields, where, NEUTRAL));
    if (complaints.length > 0) return llamaError(400, complaints.join("; "));
    if (params.stream) return llamaError(400, "The fake server does not stream");
  }
  const cuts = params.samplers.includes("top_p");
  // Kept as 32 bits; all ones mean random.
  const seed = params.seed < 0 ? null : Math.trunc(params.seed) % 2 ** 32;
  const wanted = params.n_predict < 0 ? room : Math.max(1, params.n_predict);
  const one: Omit<FakeSampling, "seed"> = {
    temperature: Math.max(0, params.temperature),
    topP: cuts ? Math.min(1, Math.max(1e-9, params.top_p)) : 1,
    topK: cuts && params.top_k > 0 ? params.top_k : null,
    maxTokens: Math.min(wanted, room),
    stopIds: params.ignore_eos ? [] : [core.model.eosId],
    candidates: params.n_probs,
    kind: params.post_sampling_probs ? "processed" : "raw",
  };
  return {
    params,
    samples: Array.from({ length: params.n_cmpl }, (_, i) => ({
      ...one,
      seed: seed === null || seed === 2 ** 32 - 1 ? null : (seed + i) % 2 ** 32,
    })),
  };
}
