import { expect, test } from "bun:test";
import { limitRequests } from "../../src/wrappers/limit.ts";
import { adjustLimit, followLoad, isCongested } from "../../src/wrappers/adaptive-limit.ts";
import type { ServerLoad } from "../../src/server.ts";
import { held, NEVER, request, settle } from "../support/requests.ts";

test("no more requests than slots are in flight, and slots are given in order", async () => {
  const backend = held();
  const limited = limitRequests(backend, { limit: () => 2, sampleMs: 60_000 });
  const all = ["a", "b", "c", "d"].map((id) => limited.sample(request({ id }), NEVER));
  await settle();
  expect(backend.started.map(({ id }) => id)).toEqual(["a", "b"]);
  backend.release();
  await all[0];
  await settle();
  expect(backend.started.map(({ id }) => id)).toEqual(["a", "b", "c"]);
  for (let i = 0; i < 3; i += 1) {
    backend.release();
    await settle();
  }
  await Promise.all(all);
  expect(limited.inFlight()).toBe(0);
});

test("a request that is aborted while it waits is never sent", async () => {
  const backend = held();
  const limited = limitRequests(backend, { limit: () => 1, sampleMs: 60_000 });
  const controller = new AbortController();
  const first = limited.sample(request({ id: "a" }), NEVER);
  const second = limited.sample(request({ id: "b" }), controller.signal);
  const third = limited.sample(request({ id: "c" }), NEVER);
  controller.abort(new Error("stop"));
  expect(second).rejects.toThrow("stop");
  backend.release();
  await first;
  await settle();
  backend.release();
  await third;
  expect(backend.started.map(({ id }) => id)).toEqual(["a", "c"]);
});

test("the time limit starts with the slot, and a late sample is not asked again", async () => {
  const backend = held();
  const limited = limitRequests(backend, { limit: () => 1, sampleMs: 1 });
  const late = await limited.sample(request(), NEVER);
  expect(late).toMatchObject({ ok: false, cause: "incomplete", again: "never" });
  expect(limited.inFlight()).toBe(0);
});

test("draining lets what runs end and starts nothing until it is over", async () => {
  const backend = held();
  const limited = limitRequests(backend, { limit: () => 8, sampleMs: 60_000 });
  const running = limited.sample(request({ id: "a" }), NEVER);
  await settle();
  let drained = false;
  const draining = limited.drain(NEVER).then((reopen) => {
    drained = true;
    return reopen;
  });
  const waiting = limited.sample(request({ id: "b" }), NEVER);
  await settle();
  expect([drained, backend.started.length]).toEqual([false, 1]);
  backend.release();
  await running;
  const reopen = await draining;
  await settle();
  expect(backend.started.length).toBe(1);
  reopen();
  await settle();
  backend.release();
  await waiting;
  expect(backend.started.map(({ id }) => id)).toEqual(["a", "b"]);
});

test("a drain that is aborted opens the gate again", async () => {
  const backend = held();
  const limited = limitRequests(backend, { limit: () => 8, sampleMs: 60_000 });
  const running = limited.sample(request({ id: "a" }), NEVER);
  const controller = new AbortController();
  const draining = limited.drain(controller.signal);
  controller.abort(new Error("stop"));
  expect(draining).rejects.toThrow("stop");
  await settle();
  const next = limited.sample(request({ id: "b" }), NEVER);
  await settle();
  backend.release();
  backend.release();
  await Promise.all([running, next]);
  expect(backend.started.length).toBe(2);
});

const CALM: ServerLoad = { running: 100, waiting: 0, kvUsage: 0.5, preemptions: 3 };

test("a server is behind when it queues, preempts or is full", () => {
  expect(isCongested(null, CALM)).toBe(false);
  expect(isCongested(CALM, { ...CALM, waiting: 10 })).toBe(false);
  expect(isCongested(CALM, { ...CALM, waiting: 11 })).toBe(true);
  expect(isCongested(CALM, { ...CALM, kvUsage: 0.96 })).toBe(true);
  expect(isCongested(CALM, { ...CALM, preemptions: 4 })).toBe(true);
  expect(isCongested(null, { ...CALM, preemptions: 4 })).toBe(false);
  expect(
    isCongested(null, { running: null, waiting: null, kvUsage: null, preemptions: null }),
  ).toBe(false);
});

test("the limit grows by addition, only while it holds something back, and shrinks by a quarter", () => {
  expect(adjustLimit(64, 512, false, 64)).toBe(72);
  expect(adjustLimit(64, 512, false, 63)).toBe(64);
  expect(adjustLimit(508, 512, false, 508)).toBe(512);
  expect(adjustLimit(64, 512, true, 64)).toBe(48);
  expect(adjustLimit(1, 512, true, 1)).toBe(1);
});

test("metrics are read when a slot is granted, not more often than told, and a failed reading changes nothing", async () => {
  let time = 0;
  let load: ServerLoad | null = CALM;
  let reads = 0;
  const follow = followLoad({
    start: 16,
    max: 64,
    everyMs: 1_000,
    now: () => time,
    readLoad: () => {
      reads += 1;
      return load === null ? Promise.reject(new Error("down")) : Promise.resolve(load);
    },
  });
  follow.onGrant(16);
  follow.onGrant(16);
  await settle();
  expect([reads, follow.limit()]).toEqual([1, 24]);
  time = 1_000;
  load = { ...CALM, waiting: 50 };
  follow.onGrant(24);
  await settle();
  expect([reads, follow.limit()]).toEqual([2, 18]);
  time = 2_000;
  load = null;
  follow.onGrant(18);
  await settle();
  expect([reads, follow.limit()]).toEqual([3, 18]);
});
