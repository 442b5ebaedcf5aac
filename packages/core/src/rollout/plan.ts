import type { Protocol } from "../protocol/protocol.ts";
import type { RolloutConfig } from "./config.ts";

/** What stays the same for every group of one step. */
export type Plan = {
  readonly config: RolloutConfig;
  readonly protocol: Protocol;
  /** Training step, from 0. */
  readonly step: number;
};
