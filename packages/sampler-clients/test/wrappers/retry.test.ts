import { expect, test } from "bun:test";
import { backOff, retryRequests, type RetryOptions } from "../../src/wrappers/retry.ts";
import { trouble } from "../../src/trouble.ts";
import { BUSY, NEVER, request, scripted } from "../support/requests.ts";

function options(waits: number[], change: Partial<RetryOptions> = {}): RetryOptions {
  return {
    attempts: 4,
    baseMs: 100,
    maxMs: 250,
    budget: 100,
    random: () => 0.5,
    sleep: (ms, signal) => {
      signal.throwIfAborted();
      waits.push(ms);
      return Promise.resolve();
    },
    ...change,
  };
}

test("a trouble of the wire is asked again, with waits that double up to a limit", async () => {
  const waits: number[] = [];
  const backend = scripted([BUSY, BUSY, BUSY]);
  const answer = await retryRequests(backend, options(waits)).sample(request(), NEVER);
  expect(answer.ok).toBe(true);
  expect(backend.calls.length).toBe(4);
  expect(waits).toEqual([50, 100, 125]);
});

test("after the last attempt the trouble is final and says how often it was tried", async () => {
  const backend = scripted([BUSY, BUSY, BUSY, BUSY, BUSY]);
  const answer = await retryRequests(backend, options([])).sample(request(), NEVER);
  expect(backend.calls.length).toBe(4);
  expect(answer).toMatchObject({
    ok: false,
    again: "never",
    detail: "POST /x answered 503: busy (given up after 4 attempts)",
  });
});

test("what may depend on the outcome is never asked again", async () => {
  const backend = scripted([trouble("server_error", "NaN")]);
  const answer = await retryRequests(backend, options([])).sample(request(), NEVER);
  expect(answer.ok).toBe(false);
  expect(backend.calls.length).toBe(1);
});

test("the server's wish comes on top of the jitter", async () => {
  const waits: number[] = [];
  const busy = { ...BUSY, afterMs: 7_000 };
  await retryRequests(scripted([busy]), options(waits)).sample(request(), NEVER);
  expect(waits).toEqual([7_050]);
});

test("the budget counts all requests of the run", async () => {
  const backend = scripted([BUSY, BUSY, "answer", BUSY]);
  const retried = retryRequests(backend, options([], { budget: 2 }));
  expect((await retried.sample(request(), NEVER)).ok).toBe(true);
  expect(await retried.sample(request(), NEVER)).toMatchObject({
    ok: false,
    detail: "POST /x answered 503: busy (no retry: the run's budget of 2 is used)",
  });
  expect(backend.calls.length).toBe(4);
});

test("an abort ends the wait", async () => {
  const controller = new AbortController();
  const backend = scripted([BUSY]);
  const sleep = (_ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error));
      controller.abort(new Error("stop"));
    });
  const retried = retryRequests(backend, options([], { sleep }));
  expect(retried.sample(request(), controller.signal)).rejects.toThrow("stop");
  expect(backend.calls.length).toBe(1);
});

test("jitter is full: anywhere between nothing and the doubled wait", () => {
  const at = (random: number): number =>
    backOff(3, null, { baseMs: 100, maxMs: 10_000, random: () => random });
  expect([at(0), at(0.25), at(0.999)]).toEqual([0, 100, 399.6]);
});
