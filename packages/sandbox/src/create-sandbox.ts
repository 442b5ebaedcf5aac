/**
 * Makes a sandbox: the code of a request goes in, what it printed and how it ended comes out.
 *
 * Here are the slots, the totals, the one retry on a fresh worker, and the refusal to run with less
 * isolation than asked for. How a run is contained is the backends' matter.
 */

import { availableParallelism } from "node:os";
import type { ExecRequest, ExecResult, Failure, Sandbox } from "@interlace/core";
import type { Backend, Job } from "./backend.ts";
import { createBubblewrapBackend } from "./backends/bubblewrap.ts";
import { createProcessBackend } from "./backends/process.ts";
import { createRemoteBackend } from "./backends/remote.ts";
import { createReplayBackend } from "./backends/replay.ts";
import { createZygoteBackend } from "./backends/zygote/zygote.ts";
import { lacking, type Require } from "./isolation.ts";
import { resolveLimits } from "./limits.ts";
import type { SandboxOptions, ZygoteOptions } from "./options.ts";
import { probeIsolation } from "./probe.ts";
import { findPython, type Python } from "./python/find-python.ts";
import { createSemaphore } from "./semaphore.ts";
import { count, NO_STATISTICS, type SandboxStatistics } from "./statistics.ts";

/** A sandbox and what it holds: processes end and folders go with `await using` or `asyncDispose`. */
export type OwnedSandbox = Sandbox &
  AsyncDisposable & {
    /** Totals since it was made; `ratesBetween` two readings gives one step's. */
    readonly statistics: () => SandboxStatistics;
    /** Runs that wait for a slot, and that hold one. */
    readonly load: () => { readonly waiting: number; readonly running: number };
  };

/** Throws when `require` is not met, the interpreter is missing, or an option is out of range. */
export async function createSandbox(options: SandboxOptions = {}): Promise<OwnedSandbox> {
  const defaults = options.limits;
  resolveLimits(defaults);
  const slots = createSemaphore(options.concurrency ?? availableParallelism());
  const autoPrint = "autoPrint" in options && (options.autoPrint ?? false);
  const { backend, noPool } = await chooseBackend(options);
  await refuseLess(backend, options.require ?? "none", noPool);
  let totals = NO_STATISTICS;

  async function attempt(job: Job, signal: AbortSignal): Promise<ExecResult | Failure> {
    const first = await backend.execute(job, signal);
    if (first.ok || first.cause !== "sandbox_error" || options.backend === "replay") return first;
    totals = { ...totals, retries: totals.retries + 1 };
    return backend.execute({ ...job, fresh: true }, signal);
  }

  async function run(request: ExecRequest, signal: AbortSignal): Promise<ExecResult | Failure> {
    const limits = resolveLimits(defaults, request.limits);
    const { id, code, stdin = "" } = request;
    const asked = performance.now();
    try {
      const release = await slots.acquire(signal);
      const queuedSeconds = (performance.now() - asked) / 1000;
      try {
        const answer = await attempt({ id, code, stdin, limits, autoPrint, fresh: false }, signal);
        const whole = answer.ok ? withQueue(answer, queuedSeconds) : answer;
        totals = count(totals, whole);
        return whole;
      } finally {
        release();
      }
    } catch (error) {
      if (signal.aborted) totals = { ...totals, cancelled: totals.cancelled + 1 };
      throw error;
    }
  }

  return {
    isolation: () => backend.isolation,
    run,
    statistics: () => totals,
    load: () => ({ waiting: slots.waiting(), running: slots.held() }),
    [Symbol.asyncDispose]: () => backend[Symbol.asyncDispose](),
  };
}

/** Here, and before that perhaps at a remote service. */
function withQueue(result: ExecResult, seconds: number): ExecResult {
  const { usage } = result;
  return { ...result, usage: { ...usage, queuedSeconds: usage.queuedSeconds + seconds } };
}

type Chosen = {
  readonly backend: Backend;
  /** Why the warm pool could not be had where the best was asked for; null = it was not missed. */
  readonly noPool: string | null;
};

async function chooseBackend(options: SandboxOptions): Promise<Chosen> {
  if (options.backend === undefined || options.backend === "auto") return createBest(options);
  const only = async (made: Backend | Promise<Backend>) => ({ backend: await made, noPool: null });
  switch (options.backend) {
    case "zygote":
      return only(createZygote(options));
    case "bubblewrap": {
      const python = await findPython(options.python);
      return only(probed(await createBubblewrapBackend(python), python));
    }
    case "process":
      return only(createProcessBackend(await findPython(options.python)));
    case "remote":
      return only(createRemoteBackend(options));
    case "replay":
      return only(createReplayBackend(options.recorded));
  }
}

/** Where the warm pool cannot be had, one process per call; the isolation report tells which and why. */
async function createBest(options: ZygoteOptions): Promise<Chosen> {
  let noPool = `it needs Linux, this is ${process.platform}`;
  if (process.platform === "linux") {
    try {
      return { backend: await createZygote(options), noPool: null };
    } catch (error) {
      if (options.level !== undefined || options.preload !== undefined) throw error;
      noPool = error instanceof Error ? error.message : String(error);
    }
  }
  const backend = await createProcessBackend(await findPython(options.python), noPool);
  return { backend, noPool };
}

async function createZygote(options: ZygoteOptions): Promise<Backend> {
  const { level, runAs, preload = [], concurrency = availableParallelism() } = options;
  const { memoryBytes } = resolveLimits(options.limits);
  const python = await findPython(options.python);
  const backend = await createZygoteBackend({
    python,
    concurrency,
    memoryBytes,
    preload,
    firstAlone: true, // the probe's, below
    ...(level === undefined ? {} : { level }),
    ...(runAs === undefined ? {} : { runAs }),
  });
  return probed(backend, python);
}

async function probed(backend: Backend, python: Python): Promise<Backend> {
  try {
    return { ...backend, isolation: await probeIsolation(backend, python) };
  } catch (error) {
    await backend[Symbol.asyncDispose]();
    const { backend: name, level } = backend.isolation;
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`Expected the sandbox ${name} (${level}) to run a program, but ${why}`, {
      cause: error,
    });
  }
}

async function refuseLess(
  backend: Backend,
  require: Require,
  noPool: string | null,
): Promise<void> {
  const missing = lacking(backend.isolation, require);
  if (missing.length === 0) return;
  const { backend: name, level } = backend.isolation;
  await backend[Symbol.asyncDispose]();
  const reasons = missing.map((line) => `${line.name} (${line.why ?? "not enforced"})`).join(", ");
  const pool = noPool === null ? "" : ` (the warm pool could not be had: ${noPool})`;
  throw new Error(
    `Expected isolation "${require}", but ${name} (${level}) does not give ${reasons}${pool}; ` +
      'choose another backend or accept less with require "none"',
  );
}
