/**
 * In: what the learner reported for each micro-batch. Out: `trainer/*` of the step.
 * Refuses to know what the learner computed: names decide.
 */
import type { Metrics } from "./step-metrics.ts";

/** `loss`, `loss:mean`, `policy_loss`, `kl/loss_mean`; not `loss_tokens`. */
const LOSS_MEAN = /(?:^|[_/:.])loss(?:[_/:.]mean)?$/;

/**
 * Loss means are summed over micro-batches, because `sample_weight` already scaled them; all else is averaged
 * over the batches that report it. Values that are no numbers are left out; NaN stays, it is news.
 */
export function aggregateTrainer(batches: readonly Readonly<Record<string, unknown>>[]): Metrics {
  const values = new Map<string, number[]>();
  for (const batch of batches) {
    for (const [name, value] of Object.entries(batch)) {
      if (typeof value !== "number") continue;
      const known = values.get(name);
      if (known === undefined) values.set(name, [value]);
      else known.push(value);
    }
  }
  const entries = [...values].map(([name, seen]): [string, number] => {
    const total = seen.reduce((sum, value) => sum + value, 0);
    return [`trainer/${name}`, LOSS_MEAN.test(name) ? total : total / seen.length];
  });
  return Object.fromEntries(entries);
}
