/** What the sampler and its Workers say to each other. Arrays are moved where they can be, copied where shared. */
import type { WeightVersion } from "@interlace/core";
import type { BatchRequest, BatchSequence } from "./batch-request.ts";
import type { KernelKind } from "./kernels.ts";
import type { ModelConfig } from "./model-config.ts";

export type ToWorker =
  | {
      readonly type: "open";
      readonly config: ModelConfig;
      readonly weights: Uint8Array;
      readonly version: WeightVersion;
      readonly kernels: KernelKind;
      readonly batch: number;
      readonly slots: number;
    }
  | { readonly type: "sample"; readonly id: number; readonly request: Omit<BatchRequest, "id"> }
  | { readonly type: "abort"; readonly id: number }
  | {
      readonly type: "load";
      readonly id: number;
      readonly weights: Uint8Array;
      readonly version: WeightVersion;
    };

/** `id` answers a message; `open` has none and comes first. `failed` closes the request it names. */
export type FromWorker =
  | { readonly type: "opened" }
  | {
      readonly type: "sampled";
      readonly id: number;
      readonly sequences: readonly BatchSequence[];
    }
  | { readonly type: "loaded"; readonly id: number }
  | { readonly type: "failed"; readonly id: number | null; readonly message: string };
