/** What differs between one vLLM and another, and what a fake one remembers. */
import type { Core, FakeOptions } from "../fake-server.ts";
import type { FakeModel } from "../fake-model.ts";

export type FakeVllmOptions = FakeOptions & {
  /** false: `/inference/v1/generate` answers 403. */
  readonly scaleOut?: boolean;
  /** `VLLM_SERVER_DEV_MODE`; false: control routes are 404. */
  readonly devMode?: boolean;
  /** Before 0.32 entries were `{token: "token_id:5", bytes: null}` and choices had no versions. */
  readonly release?: "0.32" | "older";
  readonly maxNumSeqs?: number;
};

export type VllmCore = Core & {
  readonly vllm: Required<Omit<FakeVllmOptions, keyof FakeOptions>>;
  /** Requests that can be aborted, by the id that the server gave them. */
  readonly flights: Map<string, Set<AbortController>>;
  /** LoRA adapters by name; a fake's adapter is a whole other set of weights. */
  readonly adapters: Map<string, FakeModel>;
  readonly finished: { stop: number; length: number; abort: number };
};
