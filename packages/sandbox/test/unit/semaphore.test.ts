import { expect, test } from "bun:test";
import { createSemaphore } from "../../src/semaphore.ts";

const never = new AbortController().signal;

test("slots are granted in the order in which they were asked for", async () => {
  const semaphore = createSemaphore(1);
  const order: string[] = [];
  const first = await semaphore.acquire(never);
  const others = ["b", "c"].map(async (name) => {
    const release = await semaphore.acquire(never);
    order.push(name);
    release();
  });
  expect(semaphore.waiting()).toBe(2);
  first();
  await Promise.all(others);
  expect(order).toEqual(["b", "c"]);
  expect(semaphore.held()).toBe(0);
});

test("giving a slot back twice frees it once", async () => {
  const semaphore = createSemaphore(2);
  const release = await semaphore.acquire(never);
  await semaphore.acquire(never);
  release();
  release();
  expect(semaphore.held()).toBe(1);
});

test("one who waits and is aborted leaves the queue", async () => {
  const semaphore = createSemaphore(1);
  const release = await semaphore.acquire(never);
  const controller = new AbortController();
  const waiting = semaphore.acquire(controller.signal);
  controller.abort(new Error("enough"));
  expect(waiting).rejects.toThrow("enough");
  expect(semaphore.waiting()).toBe(0);
  release();
  expect(semaphore.held()).toBe(0);
});

test.each([0, -1, 1.5, Number.NaN])("a concurrency of %d is refused", (slots) => {
  expect(() => createSemaphore(slots)).toThrow("concurrency of 1 or more");
});
