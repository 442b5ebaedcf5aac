/**
 * In: pairs of answers. Out: the verdicts of the real Math-Verify library, from a small pool of long-lived
 * Python processes. Refuses to know: where in a text an answer stands, and who asks.
 * Time out, out of memory, killed, no Python: `unscored` with the reason, never a silent `different`.
 */
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import type { Judge, Verdict } from "@interlace/core";
import type { PythonEnv } from "../python-env/ensure-python-env.ts";
import { startWorker, type Pair, type Worker } from "./worker.ts";

export type MathVerifyOptions = {
  /**
   * An interpreter that has Math-Verify, or what makes one (`ensureMathVerifyEnv`). Called once, when the
   * first pair is asked.
   */
  readonly python: string | (() => Promise<PythonEnv>);
  /** Processes, started as they are needed; the machine's cores, at most 4, by default. */
  readonly workers?: number;
  /** Per verdict, from when a worker takes it; 10 by default. */
  readonly timeoutSeconds?: number;
  /** For a worker to start; 60 by default. */
  readonly startSeconds?: number;
  /** Resident bytes of one worker; 2 GiB by default. */
  readonly memoryBytes?: number;
  /** UTF-16 code units of one side past which a pair is refused; 10,000 by default. */
  readonly maxLength?: number;
  /** Pairs that wait; past it a pair is refused. 100,000 by default: back-pressure is the caller's. */
  readonly maxQueue?: number;
  /** Verdicts after which a worker is replaced, since the library's caches grow; 2,000 by default. */
  readonly verdictsPerWorker?: number;
  /** Told once, when no verdict can be had at all. */
  readonly warn?: (line: string) => void;
  /** The worker's program; for tests. */
  readonly workerCommand?: (python: string) => readonly string[];
};

export type MathVerifyJudge = Judge &
  AsyncDisposable & {
    /** Of the workers that live, in no order. */
    readonly pids: () => readonly number[];
  };

type Unscored = Extract<Verdict, { kind: "unscored" }>;
type Python =
  | { readonly ok: true; readonly python: string }
  | (Omit<Unscored, "kind"> & { readonly ok: false });
type Job = { readonly pair: Pair; readonly settle: (verdict: Verdict) => void };
type Seat = { readonly worker: Worker; verdicts: number };

/** A worker that cannot start is tried this often before the judge gives up. */
const START_ATTEMPTS = 2;

export function mathVerifyJudge(options: MathVerifyOptions): MathVerifyJudge {
  const workers = options.workers ?? Math.min(4, availableParallelism());
  const maxLength = options.maxLength ?? 10_000;
  const maxQueue = options.maxQueue ?? 100_000;
  const verdictsPerWorker = options.verdictsPerWorker ?? 2_000;
  const commandOf = options.workerCommand ?? workerCommand;
  const limits = {
    timeoutSeconds: options.timeoutSeconds ?? 10,
    memoryBytes: options.memoryBytes ?? 2 ** 31,
    startSeconds: options.startSeconds ?? 60,
  };

  const queue = new Set<Job>();
  const live = new Set<Seat>();
  const idle: Seat[] = [];
  const starting = new Set<Promise<void>>();
  const life = new AbortController();
  let python: Promise<Python> | null = null;
  let failedStarts = 0;
  /** Set once and for all: no pair will be judged any more. */
  let closed: Unscored | null = null;

  function close(reason: string, detail: string): void {
    closed ??= { kind: "unscored", reason, detail };
    for (const job of queue) job.settle(closed);
    queue.clear();
  }

  function giveUp(reason: string, detail: string): void {
    if (closed !== null) return;
    close(reason, detail);
    options.warn?.(`Answers that need Math-Verify stay unscored: ${detail}`);
  }

  function pump(): void {
    for (const job of queue) {
      const seat = takeIdle();
      if (seat === undefined) break;
      queue.delete(job);
      void serve(seat, job);
    }
    // No more than there are pairs waiting, so that one pair starts one worker and a closed judge none.
    const missing = Math.min(queue.size, workers - live.size) - starting.size;
    for (let started = 0; started < missing; started++) {
      const start = startOne().finally(() => {
        starting.delete(start);
        pump();
      });
      starting.add(start);
    }
  }

  /** One that has died while idle is nobody's fault, so it is not given a pair. */
  function takeIdle(): Seat | undefined {
    let seat = idle.pop();
    while (seat !== undefined && !seat.worker.alive()) {
      live.delete(seat);
      seat = idle.pop();
    }
    return seat;
  }

  async function serve(seat: Seat, job: Job): Promise<void> {
    const verdict = await seat.worker.ask(job.pair);
    // What was being judged when the judge was closed died of that, not of its own.
    job.settle(verdict.kind === "unscored" ? (closed ?? verdict) : verdict);
    seat.verdicts++;
    if (closed === null && seat.worker.alive() && seat.verdicts < verdictsPerWorker) {
      idle.push(seat);
    } else {
      live.delete(seat);
      await seat.worker[Symbol.asyncDispose]();
    }
    pump();
  }

  /** Never rejects: a start that fails for good gives up, and `pump` tries again before. */
  async function startOne(): Promise<void> {
    python ??= findPython(options.python);
    const env = await python;
    if (!env.ok) return giveUp(env.reason, env.detail);
    if (closed !== null) return;
    try {
      const worker = await startWorker(commandOf(env.python), limits, life.signal);
      failedStarts = 0;
      const seat = { worker, verdicts: 0 };
      live.add(seat);
      idle.push(seat);
    } catch (error) {
      if (++failedStarts < START_ATTEMPTS) return;
      giveUp("no_worker", `${env.python} with Math-Verify does not start: ${String(error)}`);
    }
  }

  return {
    name: "math_verify",
    pids: () => [...live].map(({ worker }) => worker.pid),
    async judge(reference, prediction, signal) {
      signal.throwIfAborted();
      const longest = Math.max(reference.length, prediction.length);
      if (longest > maxLength) {
        const detail = `Expected answers of at most ${maxLength} characters, got one of ${longest}`;
        return { kind: "unscored", reason: "too_long", detail };
      }
      if (closed !== null) return closed;
      if (queue.size >= maxQueue) {
        const detail = `Expected at most ${maxQueue} waiting pairs; ask fewer at a time`;
        return { kind: "unscored", reason: "queue_full", detail };
      }
      const { promise, resolve, reject } = Promise.withResolvers<Verdict>();
      const job = { pair: { reference, prediction }, settle: resolve };
      // A pair that is being judged keeps its worker until the verdict or the limit; nobody waits for it.
      const abandon = (): void => {
        queue.delete(job);
        reject(signal.reason);
      };
      signal.addEventListener("abort", abandon, { once: true });
      queue.add(job);
      pump();
      return promise.finally(() => signal.removeEventListener("abort", abandon));
    },
    async [Symbol.asyncDispose]() {
      close("closed", "The judge has been closed");
      life.abort();
      await Promise.all(starting);
      await Promise.all([...live].map(({ worker }) => worker[Symbol.asyncDispose]()));
      live.clear();
    },
  };
}

async function findPython(source: MathVerifyOptions["python"]): Promise<Python> {
  if (typeof source === "string") return { ok: true, python: source };
  try {
    return await source();
  } catch (error) {
    return { ok: false, reason: "no_python", detail: String(error) };
  }
}

/** `-s`: no packages of the user; `-P`: none from the program's folder. */
function workerCommand(python: string): readonly string[] {
  const program = new URL("../../python/math_verify_worker.py", import.meta.url);
  return [python, "-s", "-P", fileURLToPath(program)];
}
