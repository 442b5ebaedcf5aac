/**
 * Steps to a trainer of the user's own. In: steps whose files are whole. Out: leave to roll out the next one, which is
 * given when the trainer has acknowledged enough of them: by then it has put its new weights on the servers.
 * Refuses to know what the trainer does, and how steps are made.
 */
import { join } from "node:path";
import { readAcknowledged, serveDatums, type DatumServer } from "@interlace/train-bridge";
import type { Config } from "../config/schema.ts";
import { messageOf, workFailed } from "../person-error.ts";
import { stepFolderOf, type RunFolder } from "../run-folder/run-folder.ts";

export type Handoff = AsyncDisposable & {
  /** For a person: where the trainer finds the steps; null = there is none. */
  readonly described: string | null;
  /** The first `steps` steps are on the disk. */
  readonly offer: (steps: number) => void;
  /** Resolves when step `step` may be rolled out; rejects with the signal's reason. */
  readonly whenWanted: (step: number, signal: AbortSignal) => Promise<void>;
  /** No further step comes: resolves when the trainer can have them all without this process. */
  readonly finish: (steps: number, signal: AbortSignal) => Promise<void>;
  /** Steps acknowledged so far. */
  readonly acknowledged: () => Promise<number>;
};

const ACKNOWLEDGEMENTS = "acknowledged.json";
const POLL_MS = 100;

/** `offered`: steps that are on the disk already. */
export async function openHandoff(
  config: Config,
  folder: RunFolder,
  offered: number,
): Promise<Handoff> {
  const { handoff, maxAhead } = config.learner;
  switch (handoff) {
    case "none":
      return NOBODY;
    case "files":
      return throughFiles(folder, maxAhead);
    case "socket": {
      const socket = config.learner.socket ?? join(folder.path, "learner.sock");
      return throughSocket(await serve(socket, folder, offered), socket, maxAhead);
    }
  }
}

const NOBODY: Handoff = {
  described: null,
  offer: () => {},
  whenWanted: () => Promise.resolve(),
  finish: () => Promise.resolve(),
  acknowledged: () => Promise.resolve(0),
  [Symbol.asyncDispose]: () => Promise.resolve(),
};

function throughFiles(folder: RunFolder, maxAhead: number): Handoff {
  const path = join(folder.path, ACKNOWLEDGEMENTS);
  const acknowledged = () => readAcknowledged(path);
  return {
    described: `interlace_learner.watch(${JSON.stringify(folder.path)})`,
    offer: () => {}, // the line in metrics.jsonl says it
    async whenWanted(step, signal) {
      while ((await acknowledged()) < step - maxAhead) {
        signal.throwIfAborted();
        await Bun.sleep(POLL_MS);
      }
    },
    finish: () => Promise.resolve(), // the files stay
    acknowledged,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

function throughSocket(server: DatumServer, socket: string, maxAhead: number): Handoff {
  return {
    described: `interlace_learner.connect(${JSON.stringify(socket)})`,
    offer: server.offer,
    whenWanted: (step, signal) => server.whenAcknowledged(step - maxAhead, signal),
    finish(steps, signal) {
      server.finish();
      return server.whenAcknowledged(steps, signal);
    },
    acknowledged: () => Promise.resolve(server.acknowledged()),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function serve(socket: string, folder: RunFolder, offered: number): Promise<DatumServer> {
  try {
    return await serveDatums({
      socket,
      fileOf: (step) => stepFolderOf(folder, step).datums,
      acknowledgements: join(folder.path, ACKNOWLEDGEMENTS),
      offered,
    });
  } catch (error) {
    throw workFailed(
      `Cannot serve steps at ${socket}: ${messageOf(error)}; learner.socket names another path, at most some 100 bytes long`,
      error,
    );
  }
}
