/** What the conformance suite needs of a server that serves the policy in the box, fake or real. */
import type { LogprobKind, SamplerIdentity, WeightVersion } from "@interlace/core";
import type { SamplerClient } from "../../src/create-sampler.ts";

export type Subject = AsyncDisposable & {
  readonly client: SamplerClient;
  /** Resolves when its decode loop works on a sequence. */
  untilBusy(): Promise<void>;
  /** Resolves when its decode loop works on none. */
  untilIdle(): Promise<void>;
  /** Holds its decode loop, or lets it go on; null = it has no such call. */
  readonly hold: { pause(): Promise<void>; resume(): Promise<void> } | null;
  /** Two sets of weights that it can load while it runs, the first being the policy in the box; null = it cannot. */
  readonly weights: { readonly first: Weights; readonly other: Weights } | null;
};

export type Weights = {
  readonly version: WeightVersion;
  /** As its server finds it. */
  readonly location: string;
  /** As the oracle finds it. */
  readonly folder: string;
};

export type Traits = {
  readonly kind: SamplerIdentity["kind"];
  readonly logprobKind: LogprobKind;
  readonly honoursSeed: boolean;
  readonly versionSource: SamplerIdentity["versionSource"];
  /** How far a logprob may be from the oracle's. */
  readonly tolerance: number;
  /** An abort, or a socket that closes, ends what it decodes. */
  readonly stopsOnAbort: boolean;
  /** Has a call that holds its decode loop. */
  readonly holds: boolean;
  /** Loads weights while it runs. */
  readonly loadsWeights: boolean;
};
