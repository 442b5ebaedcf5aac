/** This side of one Worker: promises over its messages. A Worker that dies fails what it held; nothing hangs. */
import type { WeightVersion } from "@interlace/core";
import type { BatchRequest, BatchSequence } from "./batch-request.ts";
import type { FromWorker, ToWorker } from "./worker-messages.ts";

export type WorkerClient = AsyncDisposable & {
  /** Sequences that are waiting or live there. */
  readonly load: () => number;
  /** null: aborted. Rejects when the Worker failed or was closed. */
  sample(
    request: Omit<BatchRequest, "id">,
    signal: AbortSignal,
  ): Promise<readonly BatchSequence[] | null>;
  loadWeights(weights: Uint8Array, version: WeightVersion): Promise<void>;
};

type Waiter = {
  resolve(message: FromWorker): void;
  reject(error: Error): void;
};

const OPEN = -1;

/** Resolves when the Worker holds the weights; rejects with its reason. */
export async function openWorker(
  options: Omit<Extract<ToWorker, { type: "open" }>, "type">,
): Promise<WorkerClient> {
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { ref: false });
  const waiters = new Map<number, Waiter>();
  let nextId = 0;
  let load = 0;
  let dead: Error | null = null;

  function die(error: Error): void {
    dead ??= error;
    for (const waiter of waiters.values()) waiter.reject(dead);
    waiters.clear();
    worker.unref();
  }

  worker.addEventListener("message", (event: MessageEvent<FromWorker>) => {
    const message = event.data;
    const id = message.type === "opened" ? OPEN : (message.id ?? OPEN);
    const waiter = waiters.get(id);
    waiters.delete(id);
    if (waiters.size === 0) worker.unref();
    if (message.type === "failed") waiter?.reject(new Error(message.message));
    else waiter?.resolve(message);
  });
  worker.addEventListener("error", (event) => {
    die(new Error(`The Worker of the embedded policy failed: ${event.message}`));
  });
  worker.addEventListener("close", () => {
    die(new Error("The Worker of the embedded policy was closed"));
  });

  function ask(id: number, message: ToWorker): Promise<FromWorker> {
    if (dead !== null) return Promise.reject(dead);
    const { promise, resolve, reject } = Promise.withResolvers<FromWorker>();
    waiters.set(id, { resolve, reject });
    // Only a Worker that owes an answer keeps the process alive.
    worker.ref();
    worker.postMessage(message, []);
    return promise;
  }

  await ask(OPEN, { type: "open", ...options });
  return {
    load: () => load,
    async sample(request, signal) {
      if (signal.aborted) return null;
      const id = nextId++;
      load += request.samples;
      const abort = (): void => {
        worker.postMessage({ type: "abort", id } satisfies ToWorker, []);
      };
      signal.addEventListener("abort", abort, { once: true });
      try {
        const answer = await ask(id, { type: "sample", id, request });
        return signal.aborted || answer.type !== "sampled" ? null : answer.sequences;
      } finally {
        signal.removeEventListener("abort", abort);
        load -= request.samples;
      }
    },
    async loadWeights(weights, version) {
      const id = nextId++;
      await ask(id, { type: "load", id, weights, version });
    },
    async [Symbol.asyncDispose]() {
      die(new Error("The embedded policy was closed while it sampled"));
      worker.terminate();
    },
  };
}
