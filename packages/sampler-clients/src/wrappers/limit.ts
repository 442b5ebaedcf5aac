/**
 * Bounded requests in flight at one server. In: a backend. Out: the same, with slots handed out in order; the time
 * limit of a sample starts when its slot is granted. `drain` lets the running ones end and starts none, for a change
 * of weights. Never retries.
 */
import type { SampleRequest } from "@interlace/core";
import type { Answered, Backend } from "../backend.ts";
import { linkSignal } from "../link-signal.ts";
import { trouble, type Trouble } from "../trouble.ts";

export type LimitOptions = {
  /** Requests in flight at most, now; asked at every grant, so that it may follow the server. */
  readonly limit: () => number;
  /** Milliseconds from the slot to the answer. */
  readonly sampleMs: number;
  /** Called with the requests in flight when a slot is granted. */
  readonly onGrant?: (inFlight: number) => void;
};

export type LimitedBackend = Backend & {
  readonly inFlight: () => number;
  /** Resolves when nothing is in flight; nothing starts until the result is called. Rejects on abort. */
  drain(signal: AbortSignal): Promise<() => void>;
};

type Waiter = { grant(): void };

export function limitRequests(backend: Backend, options: LimitOptions): LimitedBackend {
  let active = 0;
  let closed = 0;
  const waiting = new Set<Waiter>();
  const idle = new Set<() => void>();

  function grantNext(): void {
    while (active < options.limit()) {
      if (closed > 0) return;
      const [next] = waiting;
      if (next === undefined) return;
      waiting.delete(next);
      active += 1;
      next.grant();
    }
  }
  function release(): void {
    active -= 1;
    if (active === 0) for (const resolve of idle) resolve();
    grantNext();
  }
  function slot(signal: AbortSignal): Promise<void> | null {
    signal.throwIfAborted();
    if (closed === 0 && waiting.size === 0 && active < options.limit()) {
      active += 1;
      return null;
    }
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        waiting.delete(waiter);
        reject(signal.reason as Error);
      };
      const waiter: Waiter = {
        grant: () => {
          signal.removeEventListener("abort", stop);
          resolve();
        },
      };
      signal.addEventListener("abort", stop, { once: true });
      waiting.add(waiter);
      grantNext();
    });
  }
  async function sample(request: SampleRequest, signal: AbortSignal): Promise<Answered | Trouble> {
    const free = slot(signal);
    if (free !== null) await free;
    options.onGrant?.(active);
    using linked = linkSignal(signal, options.sampleMs);
    try {
      return await backend.sample(request, linked.signal);
    } catch (error) {
      if (signal.aborted || !linked.timedOut()) throw error;
      const limit = options.sampleMs / 1000;
      // Never asked again: long samples time out more often, so a second draw would favour short ones.
      const detail = `No answer within ${limit} s of the request's slot`;
      return trouble("incomplete", detail, { unhealthy: true });
    } finally {
      release();
    }
  }
  async function drain(signal: AbortSignal): Promise<() => void> {
    closed += 1;
    let open = false;
    const reopen = (): void => {
      if (open) return;
      open = true;
      closed -= 1;
      grantNext();
    };
    try {
      await untilIdle(signal);
    } catch (error) {
      reopen();
      throw error;
    }
    return reopen;
  }
  function untilIdle(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error);
      if (active === 0) return resolve();
      const done = (): void => {
        idle.delete(done);
        signal.removeEventListener("abort", stop);
        resolve();
      };
      const stop = (): void => {
        idle.delete(done);
        reject(signal.reason as Error);
      };
      idle.add(done);
      signal.addEventListener("abort", stop, { once: true });
    });
  }
  return { sample, healthy: backend.healthy, inFlight: () => active, drain };
}
