/** `generation_settings`: what the server says it sampled with, floats as float32. */
import type { LlamaParams } from "./sampling.ts";

/** `/props` shows them without lists. */
const NOT_SHOWN: readonly string[] = [
  "dry_sequence_breakers",
  "stop",
  "logit_bias",
  "grammar",
  "grammar_lazy",
  "grammar_triggers",
  "preserved_tokens",
];

export function defaultSettings(params: LlamaParams): object {
  const all = Object.entries(settingsOf(params, 2 ** 32 - 1));
  return Object.fromEntries(all.filter(([name]) => !NOT_SHOWN.includes(name)));
}

export function settingsOf(params: LlamaParams, seed: number): object {
  return {
    seed,
    temperature: Math.fround(params.temperature),
    dynatemp_range: 0,
    dynatemp_exponent: 1,
    top_k: params.top_k,
    top_p: Math.fround(Math.min(1, params.top_p)),
    min_p: Math.fround(params.min_p),
    top_n_sigma: -1,
    xtc_probability: 0,
    xtc_threshold: Math.fround(0.1),
    typical_p: 1,
    repeat_last_n: 64,
    repeat_penalty: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    dry_multiplier: 0,
    dry_base: 1.75,
    dry_allowed_length: 2,
    dry_penalty_last_n: 64,
    dry_sequence_breakers: ["\n", ":", '"', "*"],
    mirostat: 0,
    mirostat_tau: 5,
    mirostat_eta: Math.fround(0.1),
    adaptive_target: -1,
    adaptive_decay: Math.fround(0.9),
    stop: [],
    max_tokens: params.n_predict,
    n_predict: params.n_predict,
    n_keep: 0,
    n_discard: 0,
    ignore_eos: params.ignore_eos,
    stream: params.stream,
    logit_bias: [],
    n_probs: params.n_probs,
    min_keep: 0,
    grammar: "",
    grammar_lazy: false,
    grammar_triggers: [],
    preserved_tokens: [],
    chat_format: "Content-only",
    reasoning_format: "deepseek",
    reasoning_in_content: false,
    generation_prompt: "",
    samplers: params.samplers,
    "speculative.types": "none",
    timings_per_token: false,
    post_sampling_probs: params.post_sampling_probs,
    backend_sampling: false,
    lora: [],
  };
}
