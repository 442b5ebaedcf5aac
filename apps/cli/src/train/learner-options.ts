/** In: the `train` settings. Out: the learner's options, under the names that Python gives them. */
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

export function learnerOptions({ train }: Config): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(train)
      .filter(([name]) => !LOOP_SETTINGS.has(name))
      .map(([name, value]) => [toSnake(name), value]),
  );
}
