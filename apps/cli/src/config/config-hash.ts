/** One hash of everything that decides what a run computes, and of nothing that only decides how fast or where. */
import { valuesOf } from "./catalogue.ts";
import type { Config } from "./schema.ts";

/** How long, how fast, where files lie (their contents are hashed): none of it changes a token. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  "run.steps",
  "run.out",
  "run.schedule",
  "run.max_failed_fraction",
  "run.over_long_prompts",
  "run.max_open_groups",
  "data.path",
  "data.mixture",
  "protocol.system_prompt_file",
  "protocol.tool_description_file",
  "sampler.url",
  "sampler.tokenizer",
  "sampler.api_key_env",
  "sampler.headers",
  "sampler.tls.ca_file",
  "sampler.tls.cert_file",
  "sampler.tls.key_file",
  "sampler.tls.server_name",
  "sampler.tls.verify",
  "sampler.max_in_flight",
  "sampler.adaptive",
  "sampler.sample_timeout_seconds",
  "sampler.retry.attempts",
  "sampler.retry.base_seconds",
  "sampler.retry.max_seconds",
  "sampler.retry.budget",
  "sandbox.python",
  "sandbox.url",
  "sandbox.token_env",
  "sandbox.workers",
  "sandbox.require",
  "grading.workers",
  "grading.judge.url",
  "grading.judge.api_key_env",
  "grading.judge.concurrency",
  "learner.handoff",
  "learner.socket",
  "learner.max_ahead",
  "train.max_steps",
  "train.python",
  "train.run_name",
  "train.save_every",
  "train.evaluate_every",
  "train.held_out",
  "train.threads",
]);

/** A resumed run may change it. */
export function hasNoEffect(name: string): boolean {
  // What an evaluation is asked with decides nothing of a run; its own hash holds it as it takes effect.
  return WITHOUT_EFFECT.has(name) || name.startsWith("eval.");
}

/** Hex SHA-256. `inputs`: hashes of what the settings only point at (data, prompts, tokenizer). */
export function hashConfig(config: Config, inputs: Readonly<Record<string, string>>): string {
  const text = JSON.stringify(Object.entries(hashedValues(config, inputs)).sort(byName));
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}

/** What is hashed. */
export function hashedValues(
  config: Config,
  inputs: Readonly<Record<string, string>>,
): Readonly<Record<string, unknown>> {
  const settings = Object.entries(valuesOf(config)).filter(([name]) => !hasNoEffect(name));
  return Object.fromEntries([...settings, ...Object.entries(inputs)]);
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
