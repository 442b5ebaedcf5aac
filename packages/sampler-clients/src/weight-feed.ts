/**
 * Tells servers where new weights lie. In: a version and a location. Out: when new requests sample from it. `drain`
 * lets everything in flight end first; `overlap` lets it go on, and its sequences name both versions. How a kind
 * loads weights is its adapter's business.
 */
import type { WeightFeed, WeightVersion } from "@interlace/core";
import type { Server } from "./server.ts";
import type { Trouble } from "./trouble.ts";
import type { LimitedBackend } from "./wrappers/limit.ts";

export type FeedOptions = {
  readonly mode: "drain" | "overlap";
  readonly form: "full" | "lora";
  /** Known before the first announcement; null = the servers do not tell. */
  readonly first: WeightVersion | null;
};

export type Fed = {
  readonly url: string;
  readonly server: Server;
  readonly limited: LimitedBackend;
};

/** null = this kind cannot load weights while it runs. */
export function feedWeights(all: readonly Fed[], options: FeedOptions): WeightFeed | null {
  if (all.some(({ server }) => server.updateWeights === null)) return null;
  let current = options.first;
  let running: Promise<void> | null = null;

  async function update(
    version: WeightVersion,
    location: string,
    signal: AbortSignal,
  ): Promise<void> {
    const drained: (() => void)[] = [];
    try {
      if (options.mode === "drain") {
        drained.push(...(await Promise.all(all.map(({ limited }) => limited.drain(signal)))));
      }
      const busy = options.mode === "overlap";
      const change = { version, location, form: options.form, busy };
      const results = await Promise.all(
        all.map(async ({ url, server }) => ({
          url,
          seen: await server.updateWeights!(change, signal),
        })),
      );
      const failed = results.filter(hasFailed);
      if (failed.length > 0) throw new Error(describe(version, failed, all.length));
      current = version;
    } finally {
      for (const reopen of drained) reopen();
    }
  }
  return {
    current: () => current,
    announce: (version, location, signal) => {
      // One after the other: two changes at once would leave replicas with different weights. The first one closes the
      // gates before anything else can start.
      const next =
        running === null
          ? update(version, location, signal)
          : running.then(() => update(version, location, signal));
      const clear = (): void => {
        if (running === mine) running = null;
      };
      const mine: Promise<void> = next.then(clear, clear);
      running = mine;
      return next;
    },
  };
}

type Failed = { readonly url: string; readonly seen: Trouble };

function hasFailed(result: {
  readonly url: string;
  readonly seen: Trouble | null;
}): result is Failed {
  return result.seen !== null;
}

function describe(version: WeightVersion, failed: readonly Failed[], all: number): string {
  const [{ seen }] = failed as readonly [Failed, ...Failed[]];
  const off = / answered 404: /.test(seen.detail)
    ? "; vLLM needs VLLM_SERVER_DEV_MODE=1 for this (LoRA: VLLM_ALLOW_RUNTIME_LORA_UPDATING=1)"
    : "";
  return `Weights ${version} could not be loaded by ${failed.length} of ${all} servers: ${seen.detail}${off}`;
}
