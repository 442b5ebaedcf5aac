/** Requests and sequences for tests, with every field written out once. */
import { tokensOf, type SampleRequest, type Sequence } from "@interlace/core";
import type { Answered, Backend } from "../../src/backend.ts";
import { trouble, type Trouble } from "../../src/trouble.ts";

export const NEVER = new AbortController().signal;

export function request(change: Partial<SampleRequest> = {}): SampleRequest {
  return {
    id: "s0-q0-gx-t0",
    affinity: "s0-q0",
    prompt: tokensOf(Int32Array.of(1, 300, 301)),
    samples: 1,
    maxTokens: 8,
    temperature: 1,
    topP: 1,
    topK: null,
    seed: 7,
    stopIds: [2],
    ...change,
  };
}

export function sequence(ids: readonly number[], change: Partial<Sequence> = {}): Sequence {
  return {
    ok: true,
    ids: Int32Array.from(ids),
    logprobs: Float32Array.from(ids, () => -1),
    finish: "length",
    seed: 7,
    versions: [],
    serverText: null,
    ...change,
  };
}

export function answered({ samples }: SampleRequest): Answered {
  return { ok: true, sequences: Array.from({ length: samples }, () => sequence([5])) };
}

export const BUSY: Trouble = trouble("server_error", "POST /x answered 503: busy", {
  again: "yes",
  unhealthy: true,
});

/** A backend that plays a script, one entry per call; past its end it answers. */
export function scripted(
  script: readonly (Trouble | "answer")[],
): Backend & { readonly calls: SampleRequest[]; health: boolean } {
  const calls: SampleRequest[] = [];
  const backend = {
    calls,
    health: true,
    sample: (asked: SampleRequest): Promise<Answered | Trouble> => {
      const step = script[calls.length] ?? "answer";
      calls.push(asked);
      return Promise.resolve(step === "answer" ? answered(asked) : step);
    },
    healthy: (): Promise<boolean> => Promise.resolve(backend.health),
  };
  return backend;
}

/** A backend whose answers wait until the test lets them go. */
export function held(): Backend & {
  readonly started: SampleRequest[];
  /** Answers the oldest request that waits. */
  release(): void;
} {
  const started: SampleRequest[] = [];
  const waiting: (() => void)[] = [];
  return {
    started,
    release: () => waiting.shift()?.(),
    sample: (asked, signal) => {
      started.push(asked);
      return new Promise((resolve, reject) => {
        waiting.push(() => resolve(answered(asked)));
        signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      });
    },
    healthy: () => Promise.resolve(true),
  };
}

/** Lets everything that is ready run: no clock is involved. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}
