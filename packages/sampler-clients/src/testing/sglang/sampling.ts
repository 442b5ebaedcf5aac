/** SGLang's sampling_params: an unknown key fails the request, `ignore_eos` switches the stop ids off as well. */
import { z } from "zod";
import { checkFields, checkNeutral } from "../check-fields.ts";
import type { FakeSampling } from "../fake-model.ts";
import { paramsError, valueError } from "./errors.ts";
import type { SglangCore } from "./options.ts";

const KNOWN: readonly string[] = [
  "max_new_tokens", "stop", "stop_token_ids", "stop_regex", "temperature", "top_p", "top_k", "min_p",
  "frequency_penalty", "presence_penalty", "repetition_penalty", "min_new_tokens", "n", "json_schema", "regex",
  "ebnf", "structural_tag", "ignore_eos", "skip_special_tokens", "spaces_between_special_tokens", "no_stop_trim",
  "stream_interval", "logit_bias", "sampling_seed", "custom_params", "beam_width", "watermark", "choice",
]; // prettier-ignore
const REQUIRED: readonly string[] = [
  "max_new_tokens", "temperature", "top_p", "top_k", "min_p", "stop_token_ids", "ignore_eos",
  "repetition_penalty", "presence_penalty", "frequency_penalty",
]; // prettier-ignore
const NEUTRAL = {
  min_p: [0],
  min_new_tokens: [0],
  stop: [[], null],
  stop_regex: [null],
  repetition_penalty: [1],
  presence_penalty: [0],
  frequency_penalty: [0],
  logit_bias: [null],
  skip_special_tokens: [true],
  no_stop_trim: [false],
};

const paramsSchema = z.object({
  max_new_tokens: z.int().nullish(),
  temperature: z.number().default(1),
  top_p: z.number().default(1),
  top_k: z.int().default(-1),
  stop_token_ids: z.array(z.int()).nullish(),
  ignore_eos: z.boolean().default(false),
  n: z.int().default(1),
  sampling_seed: z.int().nullish(),
});

const DEFAULT_NEW_TOKENS = 128;
const DEFAULT_SEED = 42;
const ANY = 2 ** 30;

export type SglangSampling = { readonly n: number; readonly sampling: FakeSampling };

export function readSampling(
  core: SglangCore,
  params: Readonly<Record<string, unknown>>,
  promptLength: number,
  candidates: number,
): SglangSampling | Response {
  const foreign = Object.keys(params).find((name) => !KNOWN.includes(name));
  if (foreign !== undefined) {
    const names = KNOWN.map((name) => `\`${name}\``).join(", ");
    return paramsError(`unknown field \`${foreign}\`, expected one of ${names}`);
  }
  const parsed = paramsSchema.safeParse(params);
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!;
    return paramsError(`invalid type: ${issue.path.join(".")}: ${issue.message}`);
  }
  const { temperature, top_p, top_k, n, ignore_eos, sampling_seed } = parsed.data;
  if (!(top_p > 0 && top_p <= 1)) return valueError(`top_p must be in (0, 1], got ${top_p}.`);
  if (temperature < 0) return valueError(`temperature must be non-negative, got ${temperature}.`);
  const most = parsed.data.max_new_tokens ?? DEFAULT_NEW_TOKENS;
  const { context, eosId } = core.model;
  if (promptLength >= context) {
    return valueError(
      `The input (${promptLength} tokens) is longer than the model's context length (${context} tokens).`,
    );
  }
  if (promptLength + most > context) {
    return valueError(
      `Requested token count exceeds the model's maximum context length of ${context} tokens. You requested a total of ${promptLength + most} tokens: ${promptLength} tokens from the input messages and ${most} tokens for the completion. Please reduce the number of tokens in the input messages or the completion to fit within the limit.`,
    );
  }
  if (core.strict) {
    const where = "sampling_params";
    const complaints = checkFields(params, { where, required: REQUIRED, known: KNOWN });
    core.complaints.push(...complaints, ...checkNeutral(params, where, NEUTRAL));
    if (complaints.length > 0) return paramsError(complaints.join("; "));
  }
  return {
    n,
    sampling: {
      temperature,
      topP: top_p,
      topK: top_k <= 0 || top_k >= ANY ? null : top_k,
      maxTokens: most,
      seed: core.deterministic ? (sampling_seed ?? DEFAULT_SEED) : null,
      stopIds: ignore_eos ? [] : [eosId, ...(parsed.data.stop_token_ids ?? [])],
      candidates,
      kind: core.logprobs,
    },
  };
}
