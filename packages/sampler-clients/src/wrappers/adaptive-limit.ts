/**
 * A limit that follows the server's own metrics: more while it keeps up, much less when it queues, preempts or runs
 * out of KV cache (additive increase, multiplicative decrease). A server without metrics keeps the limit it has.
 */
import type { ServerLoad } from "../server.ts";

export type AdaptiveOptions = {
  readonly start: number;
  readonly max: number;
  /** Milliseconds between two readings; a llama.cpp that is read often never sees a disconnect. */
  readonly everyMs: number;
  readonly now: () => number;
  /** null = no metrics now. */
  readonly readLoad: () => Promise<ServerLoad | null>;
};

export type AdaptiveLimit = {
  limit(): number;
  /** To be called when a slot is granted. Reads the metrics when it is time, in the background. */
  onGrant(inFlight: number): void;
};

const KV_FULL = 0.95;
const DECREASE = 0.75;
const INCREASE = 8;

/** Whether a server is behind, between two readings. Waiting requests count from a tenth of the running ones on. */
export function isCongested(before: ServerLoad | null, now: ServerLoad): boolean {
  const preempted = (now.preemptions ?? 0) > (before?.preemptions ?? now.preemptions ?? 0);
  const queued = (now.waiting ?? 0) > Math.max(1, (now.running ?? 0) / 10);
  return preempted || queued || (now.kvUsage ?? 0) > KV_FULL;
}

/** The next limit. It grows only while it is what holds requests back. */
export function adjustLimit(limit: number, max: number, congested: boolean, used: number): number {
  if (congested) return Math.max(1, Math.floor(limit * DECREASE));
  return used >= limit ? Math.min(max, limit + INCREASE) : limit;
}

export function followLoad(options: AdaptiveOptions): AdaptiveLimit {
  let limit = Math.min(options.start, options.max);
  let last: ServerLoad | null = null;
  let due = -Infinity;
  let peak = 0;
  async function read(): Promise<void> {
    const load = await options.readLoad();
    if (load === null) return;
    limit = adjustLimit(limit, options.max, isCongested(last, load), peak);
    last = load;
    peak = 0;
  }
  return {
    limit: () => limit,
    onGrant: (inFlight) => {
      peak = Math.max(peak, inFlight);
      if (options.now() < due) return;
      due = options.now() + options.everyMs;
      // A reading that fails says nothing: the limit stays.
      read().catch(() => {});
    },
  };
}
