/**
 * Steps to a learner over a Unix socket. In: step files on the disk, announced one after another. Out: their Arrow
 * streams, to one learner at a time, and the acknowledgements that come back, kept in a file.
 * A step is the learner's until it is acknowledged: who dies – learner, engine, both – finds it again.
 * Refuses to know what a learner does with it.
 */
import { lstat, rm } from "node:fs/promises";
import { createServer, connect, type Server } from "node:net";
import { readAcknowledged, writeAcknowledged } from "./acknowledgements.ts";
import { talkToLearner, type LearnerConnection, type StepShelf } from "./learner-connection.ts";

/** Of `sockaddr_un`, less its closing NUL. Bun listens on longer ones, at which nobody can connect. */
const LONGEST_PATH = process.platform === "linux" ? 107 : 103;
/** In which a learner that is told of the end leaves by itself. */
const FAREWELL_MS = 1000;

export type DatumServerOptions = {
  /** Path of the Unix socket; at most some 100 bytes, by the system. One that a dead engine left is replaced. */
  readonly socket: string;
  /** `datums.arrow` of a step. */
  readonly fileOf: (step: number) => string;
  /** File that keeps how many steps are acknowledged. */
  readonly acknowledgements: string;
  /** Steps that are on the disk already. */
  readonly offered?: number;
};

export type DatumServer = AsyncDisposable & {
  /** The first `steps` steps are on the disk. Never fewer than before. */
  readonly offer: (steps: number) => void;
  /** No further step will come: a learner that asks for one is told. */
  readonly finish: () => void;
  /** Steps acknowledged so far. */
  readonly acknowledged: () => number;
  /** Whether a learner is there at the moment. */
  readonly isConnected: () => boolean;
  /** Resolves when `steps` steps are acknowledged: what an engine waits for that must not run ahead. */
  readonly whenAcknowledged: (steps: number, signal?: AbortSignal) => Promise<void>;
};

/** Rejects where the socket cannot be made, or another engine serves on it. */
export async function serveDatums(options: DatumServerOptions): Promise<DatumServer> {
  const closing = new AbortController();
  const changed = createBell();
  const state = {
    offered: options.offered ?? 0,
    isFinished: false,
    acknowledged: await readAcknowledged(options.acknowledgements),
  };

  const shelf: StepShelf = {
    fileOf: options.fileOf,
    offered: () => state.offered,
    async waitFor(step, signal) {
      while (state.offered <= step && !state.isFinished) await changed.next(signal);
      return state.offered > step;
    },
    acknowledged: () => state.acknowledged,
    async acknowledge(steps) {
      if (steps <= state.acknowledged) return;
      await writeAcknowledged(options.acknowledgements, steps);
      state.acknowledged = Math.max(state.acknowledged, steps);
      changed.ring();
    },
  };

  let learner: LearnerConnection | null = null as LearnerConnection | null;

  async function forget(own: LearnerConnection): Promise<void> {
    await own.closed;
    if (learner === own) learner = null;
  }

  const server = createServer((socket) => {
    // A learner that died and came back may be here before its death is.
    learner?.end("Another learner has come; one at a time can train on a run");
    const own = talkToLearner(socket, shelf);
    learner = own;
    void forget(own);
  });
  await listenAt(server, options.socket);

  return {
    offer(steps) {
      state.offered = Math.max(state.offered, steps);
      changed.ring();
    },
    finish() {
      state.isFinished = true;
      changed.ring();
    },
    acknowledged: () => state.acknowledged,
    isConnected: () => learner !== null,
    async whenAcknowledged(steps, signal) {
      const either =
        signal === undefined ? closing.signal : AbortSignal.any([closing.signal, signal]);
      while (state.acknowledged < steps) await changed.next(either);
    },
    async [Symbol.asyncDispose]() {
      closing.abort(new Error("The datum server is closed"));
      const isClosed = new Promise<void>((resolve) => server.close(() => resolve()));
      if (state.isFinished && learner !== null) {
        await Promise.race([learner.closed, Bun.sleep(FAREWELL_MS)]);
      }
      learner?.end("The engine is closing");
      await learner?.closed;
      await isClosed;
      await rm(options.socket, { force: true });
    },
  };
}

async function listenAt(server: Server, path: string): Promise<void> {
  const bytes = Buffer.byteLength(path);
  if (bytes > LONGEST_PATH) {
    throw new Error(`Expected a path of at most ${LONGEST_PATH} bytes for a socket, got ${bytes}`);
  }
  await refuseWhatIsNoSocket(path);
  if (await isServed(path)) {
    throw new Error(
      `Expected ${path} to be free, but an engine serves there; choose another socket`,
    );
  }
  await rm(path, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, () => resolve());
  });
}

/** A dead engine's socket is replaced; whatever else lies there is somebody's. */
async function refuseWhatIsNoSocket(path: string): Promise<void> {
  let isSocket: boolean;
  try {
    isSocket = (await lstat(path)).isSocket();
  } catch {
    return; // nothing is there, or listening will say what is wrong
  }
  if (!isSocket) {
    throw new Error(
      `Expected nothing or a socket at ${path}, which is a file; choose another path`,
    );
  }
}

/** A socket of a dead engine still lies there; nobody answers. */
function isServed(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path);
    probe.once("connect", () => {
      probe.destroy();
      resolve(true);
    });
    probe.once("error", () => resolve(false));
  });
}

type Bell = {
  readonly ring: () => void;
  /** Resolves at the next ring; rejects when aborted. */
  readonly next: (signal: AbortSignal) => Promise<void>;
};

function createBell(): Bell {
  let waiting = Promise.withResolvers<void>();
  return {
    ring() {
      waiting.resolve();
      waiting = Promise.withResolvers<void>();
    },
    next(signal) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      if (signal.aborted) return Promise.reject(reasonOf(signal));
      const onAbort = () => reject(reasonOf(signal));
      signal.addEventListener("abort", onAbort, { once: true });
      void waiting.promise.then(() => {
        signal.removeEventListener("abort", onAbort);
        return resolve();
      });
      return promise;
    },
  };
}

function reasonOf(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error("Aborted");
}
