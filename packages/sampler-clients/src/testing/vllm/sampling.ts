/** vLLM's SamplingParams: defaults, rules, what greedy means. In: a body's fields. Out: values, or the server's refusal. */
import { z } from "zod";
import { checkNeutral } from "../check-fields.ts";
import type { FakeSampling } from "../fake-model.ts";
import { invalid, vllmError, wrongValue } from "./errors.ts";
import type { VllmCore } from "./options.ts";

const paramsSchema = z.object({
  n: z.int().nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  top_k: z.int().nullish(),
  seed: z.number().nullish(),
  max_tokens: z.int().nullish(),
  stop_token_ids: z.array(z.int()).nullish(),
  ignore_eos: z.boolean().nullish(),
  logprobs: z.int().nullish(),
});

/** Whose absence would let a default decide what is sampled or what a logprob says. */
export const REQUIRED_PARAMS: readonly string[] = [
  "n", "temperature", "top_p", "top_k", "min_p", "seed", "max_tokens", "stop_token_ids", "ignore_eos",
  "repetition_penalty", "presence_penalty", "frequency_penalty", "logprobs",
]; // prettier-ignore

export const KNOWN_PARAMS: readonly string[] = [
  "min_tokens", "stop", "prompt_logprobs", "logit_bias", "allowed_token_ids", "bad_words", "logprob_token_ids",
  "include_stop_str_in_output", "skip_special_tokens", "spaces_between_special_tokens",
]; // prettier-ignore

const NEUTRAL = {
  min_p: [0, null],
  min_tokens: [0, null],
  stop: [[], null],
  repetition_penalty: [1, null],
  presence_penalty: [0, null],
  frequency_penalty: [0, null],
  prompt_logprobs: [null],
  logit_bias: [null, {}],
  allowed_token_ids: [null],
  bad_words: [null, []],
  logprob_token_ids: [null],
};

const GREEDY_BELOW = 1e-5;
const LEAST_TEMPERATURE = 0.01;
const MAX_LOGPROBS = 20;

export type VllmSampling = {
  readonly samples: readonly FakeSampling[];
  /** null = no logprobs are returned. */
  readonly logprobs: number | null;
};

/** `room` is what the context leaves for new tokens. */
export function readSampling(
  core: VllmCore,
  params: Readonly<Record<string, unknown>>,
  where: string,
  room: number,
  maxTokensByDefault: number,
): VllmSampling | Response {
  const parsed = paramsSchema.safeParse(params);
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!;
    return invalid(issue.code, `${where}.${issue.path.join(".")}`, issue.message, "?");
  }
  const { n, temperature, top_p, top_k, seed, max_tokens, logprobs } = parsed.data;
  const heat = temperature ?? 1;
  if (heat < 0) return wrongValue("temperature", "non-negative", heat);
  if (heat > 2) return wrongValue("temperature", "in [0, 2]", heat);
  const share = top_p ?? 1;
  if (!(share > 0 && share <= 1)) return wrongValue("top_p", "in (0, 1]", share);
  const most = max_tokens ?? maxTokensByDefault;
  if (most < 1) return wrongValue("max_tokens", "at least 1", most, true);
  const count = n ?? 1;
  if (count < 1) return wrongValue("n", "at least 1", count, true);
  const greedy = heat < GREEDY_BELOW;
  if (greedy && count > 1) {
    return vllmError(400, `n must be 1 when using greedy sampling, got ${count}.`);
  }
  const asked = logprobs === -1 ? core.model.vocabSize : (logprobs ?? 0);
  if (asked > MAX_LOGPROBS) {
    const message = `Requested sample logprobs of ${asked}, which is greater than max allowed: ${MAX_LOGPROBS} (parameter=logprobs, value=${asked})`;
    return vllmError(400, message, "BadRequestError", "logprobs");
  }
  if (seed !== null && seed !== undefined && (seed >= 2 ** 64 || seed < -(2 ** 63))) {
    return vllmError(400, "can't serialize ints < -2**63 or > 2**64 - 1");
  }
  if (core.strict) core.complaints.push(...checkNeutral(params, where, NEUTRAL));
  const base = seed === -1 ? null : (seed ?? null);
  const ends = parsed.data.ignore_eos === true ? [] : [core.model.eosId];
  const one: Omit<FakeSampling, "seed"> = {
    temperature: greedy ? 0 : Math.max(heat, LEAST_TEMPERATURE),
    topP: greedy ? 1 : share,
    topK: greedy || (top_k ?? 0) <= 0 ? null : top_k!,
    maxTokens: Math.min(most, room),
    stopIds: [...ends, ...(parsed.data.stop_token_ids ?? [])],
    candidates: asked,
    kind: core.logprobs,
  };
  return {
    samples: Array.from({ length: count }, (_, i) => ({
      ...one,
      seed: base === null ? null : base + i,
    })),
    logprobs: logprobs ?? null,
  };
}

/** null for EOS, the id for another stop id, null for anything else. */
export function stopReason(core: VllmCore, finish: string | null, last: number | undefined) {
  return finish === "stop" && last !== undefined && last !== core.model.eosId ? last : null;
}
