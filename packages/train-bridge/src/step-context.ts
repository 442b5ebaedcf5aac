import type { RunFacts } from "./metadata.ts";

/** What rows say beyond their trajectory. */
export type StepContext = {
  readonly runId: string;
  /** Training step, from 0. */
  readonly step: number;
  /** Kind of the sampler: `vllm`, `embedded`, … */
  readonly sampler: string;
  readonly model: string;
  readonly facts: RunFacts;
};
