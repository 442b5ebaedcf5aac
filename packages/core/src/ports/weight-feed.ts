import type { WeightVersion } from "./sampler.ts";

/** Tells a sampler where new weights lie (samplers.md §6). */
export interface WeightFeed {
  current(): WeightVersion | null;
  /** Resolves when new requests sample from `version`. `location` is a path or name that the server can read. */
  announce(version: WeightVersion, location: string, signal: AbortSignal): Promise<void>;
}
