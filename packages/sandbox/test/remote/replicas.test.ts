import { expect, test } from "bun:test";
import { createReplicas } from "../../src/backends/remote-replicas.ts";

test("the least busy address is asked", () => {
  const replicas = createReplicas(["http://a", "http://b"], () => 0);
  const first = replicas.pick();
  first.inFlight += 1;
  expect([first.url, replicas.pick().url]).toEqual(["http://a", "http://b"]);
});

test("one that failed rests, twice as long each time, and is forgiven by a success", () => {
  let now = 0;
  const replicas = createReplicas(["http://a", "http://b"], () => now);
  const a = replicas.pick();
  replicas.failed(a);
  expect(a.restsUntil).toBe(500);
  expect(replicas.pick().url).toBe("http://b");
  now = 500;
  expect(replicas.pick().url).toBe("http://a");
  replicas.failed(a);
  expect(a.restsUntil).toBe(1500);
  replicas.succeeded(a);
  expect(replicas.pick().url).toBe("http://a");
});

test("when all rest, the one that wakes first is asked all the same", () => {
  let now = 0;
  const replicas = createReplicas(["http://a", "http://b"], () => now);
  replicas.failed(replicas.pick());
  now = 10;
  replicas.failed(replicas.pick());
  expect(replicas.pick().url).toBe("http://a");
});

test("a slash at the end of an address does not matter", () => {
  expect(createReplicas(["http://a:1/x/"], () => 0).pick().url).toBe("http://a:1/x");
});
