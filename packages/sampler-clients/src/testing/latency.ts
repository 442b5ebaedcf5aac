/** How long a fake server thinks before it answers: drawn from a hash of seed and place, so a run can be repeated. */
import { createGenerator } from "../embedded/generator.ts";

export type Latency =
  | { readonly type: "none" }
  | {
      readonly type: "log_normal";
      readonly medianMs: number;
      /** Of the logarithm: 0 = always the median, 1 = long tails. */
      readonly sigma: number;
      readonly seed: number;
    };

/** Milliseconds of the request that arrived as number `place`, from 0. */
export function latencyOf(latency: Latency, place: number): number {
  switch (latency.type) {
    case "none":
      return 0;
    case "log_normal": {
      const uniform = createGenerator((latency.seed * 1_000_003 + place) | 0);
      // Box and Muller; 1 − u is never 0.
      const radius = Math.sqrt(-2 * Math.log(1 - uniform()));
      const normal = radius * Math.cos(2 * Math.PI * uniform());
      return latency.medianMs * Math.exp(latency.sigma * normal);
    }
  }
}

/** Resolves early on abort. */
export function wait(ms: number | null, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = (): void => {
    clearTimeout(timer);
    signal.removeEventListener("abort", done);
    resolve();
  };
  const timer = ms === null ? undefined : setTimeout(done, ms);
  if (signal.aborted) done();
  else signal.addEventListener("abort", done, { once: true });
  return promise;
}
