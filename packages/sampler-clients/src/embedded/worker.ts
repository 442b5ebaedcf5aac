/** The Worker's side: owns one engine, answers messages, so that the driver and Ctrl-C never wait for a step. */
import { createBatcher, type Batcher } from "./batcher.ts";
import { createBatchLoop, type BatchLoop } from "./batch-loop.ts";
import { createEngine } from "./engine.ts";
import { readSafetensors } from "./safetensors.ts";
import type { FromWorker, ToWorker } from "./worker-messages.ts";

declare const self: {
  addEventListener(type: "message", listener: (event: { readonly data: ToWorker }) => void): void;
  postMessage(message: FromWorker, transfer: readonly ArrayBufferLike[]): void;
};

const aborts = new Map<number, AbortController>();
type Opened = { readonly batcher: Batcher; readonly loop: BatchLoop };
let opened: Promise<Opened> | null = null;

async function open(message: Extract<ToWorker, { type: "open" }>): Promise<Opened> {
  const { config, kernels, slots, batch, version } = message;
  const engine = await createEngine(config, { slots, rows: config.context, kernels });
  engine.load(readSafetensors(message.weights));
  const batcher = createBatcher(engine, version, batch);
  return { batcher, loop: createBatchLoop(batcher) };
}

async function handle(message: ToWorker): Promise<void> {
  switch (message.type) {
    case "open":
      opened = open(message);
      await opened;
      self.postMessage({ type: "opened" }, []);
      return;
    case "sample": {
      // Before anything is awaited: an abort may be the next message.
      const controller = new AbortController();
      aborts.set(message.id, controller);
      try {
        const { loop } = await current();
        const sequences = await loop.generate(message.request, controller.signal);
        const buffers = sequences.flatMap(({ ids, logprobs }) => [ids.buffer, logprobs.buffer]);
        self.postMessage({ type: "sampled", id: message.id, sequences }, buffers);
      } finally {
        aborts.delete(message.id);
      }
      return;
    }
    case "abort":
      aborts.get(message.id)?.abort();
      return;
    case "load": {
      const { batcher } = await current();
      batcher.load(readSafetensors(message.weights), message.version);
      self.postMessage({ type: "loaded", id: message.id }, []);
    }
  }
}

function current(): Promise<Opened> {
  if (opened === null) throw new Error("Expected open as the first message");
  return opened;
}

self.addEventListener("message", ({ data }) => {
  handle(data).catch((error: unknown) => {
    const id = "id" in data ? data.id : null;
    const text = error instanceof Error ? error.message : String(error);
    self.postMessage({ type: "failed", id, message: text }, []);
  });
});
