/**
 * Steps to a trainer of the user's own. In: steps whose files are whole. Out: leave to roll out the next one, which is
 * given when the trainer has acknowledged enough of them: by then it has put its new weights on the servers.
 * Refuses to know what the trainer does, and how steps are made.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import {
  readAcknowledged,
  serveDatums,
  writeJson,
  type DatumServer,
} from "@interlace/train-bridge";
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
  /** False = nobody has connected; null = there is no connection to tell by. */
  readonly isConnected: () => boolean | null;
};

const ACKNOWLEDGEMENTS = "acknowledged.json";
/** Tells `interlace_learner.watch` after which step nothing comes. */
const FINISHED = "finished.json";
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
      return await throughFiles(folder, maxAhead);
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
  isConnected: () => null,
  [Symbol.asyncDispose]: () => Promise.resolve(),
};

async function throughFiles(folder: RunFolder, maxAhead: number): Promise<Handoff> {
  const path = join(folder.path, ACKNOWLEDGEMENTS);
  const finished = join(folder.path, FINISHED);
  async function acknowledged(): Promise<number> {
    try {
      return await readAcknowledged(path);
    } catch (error) {
      throw workFailed(messageOf(error), error);
    }
  }
  // A run that goes on is not finished any more.
  await rm(finished, { force: true });
  return {
    described: `interlace_learner.watch(${JSON.stringify(folder.path)})`,
    offer: () => {}, // the line in metrics.jsonl says it
    async whenWanted(step, signal) {
      while ((await acknowledged()) < step - maxAhead) {
        signal.throwIfAborted();
        await Bun.sleep(POLL_MS);
      }
    },
    async finish(steps) {
      await writeJson(finished, { finished_steps: steps });
    },
    acknowledged,
    isConnected: () => null,
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
    isConnected: server.isConnected,
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
      `Cannot serve steps at ${socket}: ${messageOf(error)}; learner.socket names another path`,
      error,
    );
  }
}
