/** What differs between one SGLang and another, and what a fake one remembers. */
import type { Core, FakeOptions } from "../fake-server.ts";
import type { FakeModel } from "../fake-model.ts";

export type FakeSglangOptions = FakeOptions & {
  /** `--enable-deterministic-inference`: only then seeds count, and 42 is everybody's default. */
  readonly deterministic?: boolean;
};

export type SglangCore = Core & {
  readonly deterministic: boolean;
  /** By rid; aborts match by prefix. */
  readonly flights: Map<string, AbortController>;
  readonly adapters: Map<string, FakeModel>;
  pausedBy: "abort" | "retract" | "in_place" | null;
  /** A prompt id outside the vocabulary kills the process: nothing is answered any more. */
  dead: boolean;
};
