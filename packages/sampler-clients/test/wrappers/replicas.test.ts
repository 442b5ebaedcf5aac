import { expect, test } from "bun:test";
import { spreadOver, type ReplicaOptions } from "../../src/wrappers/replicas.ts";
import { trouble } from "../../src/trouble.ts";
import { BUSY, held, NEVER, request, scripted, settle } from "../support/requests.ts";

function options(change: Partial<ReplicaOptions> = {}): ReplicaOptions {
  return { loadFactor: 1.5, faults: 2, openMs: 1_000, now: () => 0, ...change };
}

test("requests of one affinity meet one replica, others spread", async () => {
  const [a, b] = [scripted([]), scripted([])];
  const spread = spreadOver([a, b], options());
  for (const affinity of ["x", "x1", "x", "x1", "x", "x"]) {
    await spread.sample(request({ affinity }), NEVER);
  }
  // Nothing is in flight between them, so both keys begin at the first replica; each stays.
  expect([a.calls.length, b.calls.length]).toEqual([6, 0]);
});

test("keys are compared whole: x and x1 are strangers", async () => {
  const [a, b] = [held(), held()];
  const spread = spreadOver([a, b], options({ loadFactor: 100 }));
  const all = ["x", "x1", "x", "x1"].map((affinity) => spread.sample(request({ affinity }), NEVER));
  await settle();
  expect(a.started.map(({ affinity }) => affinity)).toEqual(["x", "x"]);
  expect(b.started.map(({ affinity }) => affinity)).toEqual(["x1", "x1"]);
  for (let i = 0; i < 2; i += 1) [a, b].forEach((backend) => backend.release());
  await Promise.all(all);
});

test("a replica with far more than the mean gives requests away but keeps its key", async () => {
  const [a, b] = [held(), held()];
  const spread = spreadOver([a, b], options({ loadFactor: 1.5 }));
  const all = Array.from({ length: 9 }, () => spread.sample(request({ affinity: "x" }), NEVER));
  await settle();
  expect(b.started.length).toBeGreaterThan(0);
  expect(a.started.length).toBeGreaterThan(b.started.length);
  for (let i = 0; i < 9; i += 1) [a, b].forEach((backend) => backend.release());
  await Promise.all(all);
  const again = spread.sample(request({ affinity: "x" }), NEVER);
  await settle();
  expect(a.started.length).toBe(9 - b.started.length + 1);
  a.release();
  await again;
});

test("faults in a row open the circuit; the key then moves", async () => {
  const [a, b] = [scripted([BUSY, BUSY]), scripted([])];
  const spread = spreadOver([a, b], options());
  const ask = () => spread.sample(request({ affinity: "x" }), NEVER);
  expect([(await ask()).ok, (await ask()).ok, (await ask()).ok]).toEqual([false, false, true]);
  expect([a.calls.length, b.calls.length]).toEqual([2, 1]);
});

test("a refusal is no illness", async () => {
  const no = trouble("refused", "no");
  const a = scripted([no, no, no, no]);
  const spread = spreadOver([a, scripted([])], options());
  for (let i = 0; i < 4; i += 1) await spread.sample(request({ affinity: "x" }), NEVER);
  expect(a.calls.length).toBe(4);
});

test("after its time one request tries the replica, if its health route answers", async () => {
  let time = 0;
  const [a, b] = [scripted([BUSY, BUSY, "answer"]), scripted([])];
  const spread = spreadOver([a, b], options({ now: () => time }));
  const ask = () => spread.sample(request({ affinity: "x" }), NEVER);
  await ask();
  await ask();
  a.health = false;
  time = 1_000;
  await ask();
  expect([a.calls.length, b.calls.length]).toEqual([2, 1]);
  a.health = true;
  // The trial that failed doubled the wait.
  time = 2_999;
  await spread.sample(request({ affinity: "new" }), NEVER);
  expect(a.calls.length).toBe(2);
  time = 3_000;
  await spread.sample(request({ affinity: "other" }), NEVER);
  expect(a.calls.length).toBe(3);
  await spread.sample(request({ affinity: "third" }), NEVER);
  expect(a.calls.length).toBe(4);
});

test("with all of them ill the trouble says when the next try is", async () => {
  const spread = spreadOver([scripted([BUSY, BUSY])], options());
  await spread.sample(request(), NEVER);
  await spread.sample(request(), NEVER);
  expect(await spread.sample(request(), NEVER)).toMatchObject({
    ok: false,
    again: "yes",
    afterMs: 1_000,
    detail: "None of 1 replicas answers; the next try is in 1 s",
  });
});

test("what was in flight when the circuit opened does not open it again and again", async () => {
  let time = 0;
  const a = scripted([BUSY, BUSY, BUSY, BUSY, BUSY, BUSY, "answer"]);
  const spread = spreadOver([a], options({ now: () => time }));
  await Promise.all(Array.from({ length: 6 }, () => spread.sample(request(), NEVER)));
  time = 1_000;
  expect((await spread.sample(request(), NEVER)).ok).toBe(true);
});
