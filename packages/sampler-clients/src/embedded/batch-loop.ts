/**
 * Drives a batcher: steps while there is work, and between two steps lets messages, aborts and new weights in.
 * In: requests. Out: one promise per request. Refuses to know where it runs: a Worker, or a fake server.
 */
import type { BatchRequest, BatchSequence, TokenWatcher } from "./batch-request.ts";
import type { Batcher } from "./batcher.ts";

export type BatchLoop = {
  /** Never rejects on abort: resolves with what was sampled so far, as `aborted`. */
  generate(
    request: Omit<BatchRequest, "id">,
    signal: AbortSignal,
    watch?: TokenWatcher,
  ): Promise<readonly BatchSequence[]>;
  /** No step starts until `resume`; requests wait. */
  pause(): void;
  resume(): void;
};

export function createBatchLoop(batcher: Batcher): BatchLoop {
  const pending = new Map<number, (sequences: readonly BatchSequence[]) => void>();
  let nextId = 0;
  const state = { running: false, paused: false };
  let failure: { readonly error: unknown } | null = null;

  async function run(): Promise<void> {
    if (state.running) return;
    state.running = true;
    try {
      for (;;) {
        // Before the first step too: what is asked for in one turn of the event loop starts together.
        await betweenSteps();
        if (pending.size === 0 || state.paused) return;
        for (const { id, sequences } of batcher.step()) {
          pending.get(id)?.(sequences);
          pending.delete(id);
        }
      }
    } finally {
      state.running = false;
    }
  }

  function start(): void {
    // An error of the engine is a bug: it surfaces at the next request and, uncaught, in the process.
    run().catch((error: unknown) => {
      failure = { error };
      queueMicrotask(() => {
        throw error;
      });
    });
  }

  return {
    async generate(request, signal, watch) {
      if (failure !== null) throw failure.error;
      const id = nextId++;
      const { promise, resolve } = Promise.withResolvers<readonly BatchSequence[]>();
      pending.set(id, resolve);
      batcher.submit({ ...request, id }, watch);
      const abort = (): void => {
        const answer = batcher.abort(id);
        pending.delete(id);
        if (answer !== null) resolve(answer.sequences);
      };
      if (signal.aborted) abort();
      else signal.addEventListener("abort", abort, { once: true });
      start();
      try {
        return await promise;
      } finally {
        signal.removeEventListener("abort", abort);
      }
    },
    pause() {
      state.paused = true;
    },
    resume() {
      state.paused = false;
      start();
    },
  };
}

function betweenSteps(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
