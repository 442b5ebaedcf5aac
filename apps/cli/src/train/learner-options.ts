/** In: the `train` settings and the seed. Out: the learner's options, under the names that Python gives them. */
import type { Config } from "../config/schema.ts";
import { toSnake } from "../config/names.ts";

/** Settings of the loop; all others are the optimizer step's. */
const LOOP_SETTINGS: ReadonlySet<string> = new Set([
  "maxSteps",
  "policy",
  "python",
  "runName",
  "saveEvery",
  "maxStaleness",
  "evaluateEvery",
  "heldOut",
] satisfies (keyof Config["train"])[]);

export function learnerOptions({ train, rollout }: Config): Readonly<Record<string, unknown>> {
  const own = Object.entries(train).filter(([name]) => !LOOP_SETTINGS.has(name));
  return {
    ...Object.fromEntries(own.map(([name, value]) => [toSnake(name), value])),
    // TOML has no null, which is what all weights are called there.
    lora_rank: train.loraRank === 0 ? null : train.loraRank,
    seed: rollout.seed,
  };
}
