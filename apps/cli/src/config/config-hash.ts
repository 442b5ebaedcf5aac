/** One hash of everything that decides what a run computes, and of nothing that only decides how fast or where. */
import { valuesOf } from "./catalogue.ts";
import type { Config } from "./schema.ts";

/** Where files lie, when things start, how long to wait: none of it changes a token. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  "run.steps",
  "run.out",
  "run.schedule",
  "sandbox.workers",
  "data.path",
]);

/** Hex SHA-256. `inputs`: hashes of what the settings only point at (data, prompts, tokenizer). */
export function hashConfig(config: Config, inputs: Readonly<Record<string, string>>): string {
  const settings = Object.entries(valuesOf(config)).filter(([name]) => !WITHOUT_EFFECT.has(name));
  const text = JSON.stringify([...settings, ...Object.entries(inputs)].sort(byName));
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
