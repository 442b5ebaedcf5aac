/**
 * The warm pool: one jailed template with the libraries imported, a fork of it per call.
 *
 * Contained (levels `root` and `user`): files – a call sees what Python needs of the host, read-only,
 * and an empty, limited folder of its own –, network, other processes, left-overs, memory per process,
 * the number of processes, disk, and the system calls that open the kernel; memory in sum where control
 * groups can be made. NOT contained: bugs of the kernel itself – this is no virtual machine –, and time
 * and cache side channels. A call is process 1 of its namespace: a signal with default action that it
 * sends to itself does nothing.
 */

import type { ExecResult, Failure } from "@interlace/core";
import { sandboxError, type Backend, type Job } from "../../backend.ts";
import { classify, signalName, type Ending } from "../../ending.ts";
import { isolationOf } from "../../isolation.ts";
import { addressSpace } from "../../limits.ts";
import { openPool, type Pool, type PoolOptions } from "./pool.ts";
import { encodeRequest, type Report } from "./wire.ts";
import type { Worker } from "./worker.ts";

/** After the report its pipes end; a process that hid must not hold us. */
const DRAIN_MS = 1000;
/** How often a worker is asked for before the call is given up: nothing of it has run by then. */
const TAKES = 3;
/** In which a pool that gave a dead worker is seen to be dead itself. */
const NOTICE_MS = 200;

export async function createZygoteBackend(options: PoolOptions): Promise<Backend> {
  const first = await openPool(options);
  const { level } = first;
  let pool = Promise.resolve(first);
  let bare = false;

  /** A pool that has ended is replaced, once for all who wait; rejects when that is impossible. */
  async function livingPool(): Promise<Pool> {
    const current = pool;
    const opened = await current.catch(() => null);
    if (opened?.alive() === true) return opened;
    if (pool === current) pool = replace(opened);
    return pool;
  }

  async function replace(ended: Pool | null): Promise<Pool> {
    await ended?.[Symbol.asyncDispose]();
    const again = { ...options, level, firstAlone: false };
    try {
      return await openPool({ ...again, bare });
    } catch (error) {
      if (bare || ended?.warm() !== false) throw error;
      // What it was to import ended it: without, calls are slower, and run.
      bare = true;
      return openPool({ ...again, bare });
    }
  }

  async function takeWorker(fresh: boolean): Promise<{ living: Pool; worker: Worker }> {
    for (let takes = 1; ; takes += 1) {
      const living = await livingPool();
      try {
        return { living, worker: await living.take(fresh || takes > 1) };
      } catch (error) {
        if (takes === TAKES) throw error;
        await Promise.race([living.ended, Bun.sleep(NOTICE_MS)]);
      }
    }
  }

  async function execute(job: Job, signal: AbortSignal): Promise<ExecResult | Failure> {
    signal.throwIfAborted();
    try {
      const { living, worker } = await takeWorker(job.fresh);
      if (signal.aborted) living.putBack(worker);
      signal.throwIfAborted();
      const result = await runOn(living, worker, job, signal);
      signal.throwIfAborted();
      return result;
    } catch (error) {
      signal.throwIfAborted();
      return sandboxError(error instanceof Error ? error.message : String(error));
    }
  }

  return {
    isolation: isolationOf("zygote", level, first.report),
    execute,
    async [Symbol.asyncDispose]() {
      await (await pool.catch(() => null))?.[Symbol.asyncDispose]();
    },
  };
}

async function runOn(
  pool: Pool,
  worker: Worker,
  job: Job,
  signal: AbortSignal,
): Promise<ExecResult> {
  const { limits } = job;
  let flooded = false;
  const flood = () => {
    if (!flooded) pool.kill(worker);
    flooded = true;
  };
  const abort = () => pool.kill(worker);
  signal.addEventListener("abort", abort, { once: true });
  try {
    const began = performance.now();
    const request = { ...job, ...limits, addressSpace: addressSpace(limits) };
    worker.begin(encodeRequest(request), limits, flood);
    pool.start(worker, limits);
    const report = await worker.report;
    const wallSeconds = (performance.now() - began) / 1000;
    await Promise.race([worker.closed, Bun.sleep(DRAIN_MS)]);
    const ending = endingOf(report, flooded);
    const classified = classify(ending, limits);
    const output = worker.output();
    if (report.reason === "none" && classified.signal === "SIGKILL" && pool.level !== "landlock") {
      if (classified.status === "killed") {
        // Process 1 of a namespace cannot kill itself, and neither we nor a limit did.
        throw new Error("a worker was killed from outside, by a person or for want of memory");
      }
    }
    const { cpuSeconds, peakMemoryBytes } = report;
    const usage = { queuedSeconds: 0, wallSeconds, cpuSeconds, peakMemoryBytes };
    return { ok: true, ...classified, ...output, usage };
  } finally {
    signal.removeEventListener("abort", abort);
    worker.discard();
    pool.release();
  }
}

function endingOf(report: Report, flooded: boolean): Ending {
  const { exitCode, cpuSeconds } = report;
  const signal = report.signal === null ? null : signalName(report.signal);
  return { exitCode, signal, cpuSeconds, killed: killedBy(report, flooded) };
}

function killedBy(report: Report, flooded: boolean): Ending["killed"] {
  if (report.reason === "timeout") return "timeout";
  if (flooded) return "output_limit";
  return report.reason === "out_of_memory" ? "memory_limit" : null;
}
