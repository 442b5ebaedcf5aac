/**
 * 64 problems × 8 samples, two turns, against a fake with long-tailed latencies and 1% of each transport fault: what was
 * hit is asked again and nothing else, no sample is lost or doubled, and nothing is sent after an abort.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { append, sampledSegment } from "@interlace/core";
import { createFakeVllm, type Fault, type FakeServer, type Seen } from "../../src/testing/index.ts";
import { ask, FIRST, sampled } from "./asked.ts";
import { openFake } from "./fake-subject.ts";
import type { Subject } from "./subject.ts";

setDefaultTimeout(120_000);

const FAULTS: readonly Fault[] = [
  { type: "status", status: 429, headers: { "retry-after": "0" } },
  { type: "status", status: 502, contentType: "text/html", body: "<html></html>" },
  { type: "status", status: 503 },
  { type: "status", status: 504 },
  { type: "reset", when: "before_headers" },
  { type: "reset", when: "after_headers" },
  { type: "cut" },
];

let fake: FakeServer;
let subject: Subject;
let armed = false;
const hit: Seen[] = [];

beforeAll(async () => {
  fake = await createFakeVllm({
    latency: { type: "log_normal", medianMs: 4, sigma: 1.2, seed: 1 },
    faults: (seen) => {
      // Of every hundred arrivals seven are hit, one by each fault.
      const fault = armed ? (FAULTS[(seen.place * 37) % 100] ?? null) : null;
      if (fault !== null) hit.push(seen);
      return fault;
    },
  });
  subject = await openFake(fake, { kind: "vllm", maxInFlight: 256 }, null);
});
afterAll(() => subject?.[Symbol.asyncDispose]());

const sent = (): number => fake.seen.filter(({ route }) => route.endsWith("/generate")).length;

test("only what was hit is asked again, and every sample comes once", async () => {
  armed = true;
  const before = sent();
  const { signal } = new AbortController();
  const all = await Promise.all(
    Array.from({ length: 64 }, async (_, question) => {
      const affinity = `s0-q${question}`;
      const first = ask({
        id: `${affinity}-gx-t0`,
        affinity,
        samples: 8,
        maxTokens: 6,
        seed: 64 * question,
      });
      const members = sampled(await subject.client.sampler.sample(first, signal));
      expect(members.map(({ seed }) => seed)).toEqual(
        [0, 1, 2, 3, 4, 5, 6, 7].map((i) => first.seed + i),
      );
      const later = members.map(({ ids, logprobs }, member) =>
        subject.client.sampler.sample(
          ask({
            id: `${affinity}-g${member}-t1`,
            affinity,
            prompt: append(FIRST, sampledSegment(ids, logprobs)),
            maxTokens: 4,
            seed: 10_000 + 64 * question + member,
          }),
          signal,
        ),
      );
      return [...members, ...sampled((await Promise.all(later)).flat())];
    }),
  );
  armed = false;
  expect(all.flat().length).toBe(64 * 8 * 2);
  expect(hit.length).toBeGreaterThan(30);
  expect(sent() - before).toBe(64 + 64 * 8 + hit.length);
  const names = fake.seen.map(({ body }) => (body as { request_id?: string } | null)?.request_id);
  const given = names.filter((name) => name !== undefined);
  expect(new Set(given).size).toBe(given.length);
});

test("after an abort nothing more is sent", async () => {
  const controller = new AbortController();
  const all = Array.from({ length: 300 }, (_, at) =>
    subject.client.sampler.sample(ask({ maxTokens: 40, seed: at, stopIds: [] }), controller.signal),
  );
  await subject.untilBusy();
  controller.abort(new Error("enough"));
  for (const one of await Promise.allSettled(all)) {
    expect(one.status === "rejected" || one.value.every(({ ok }) => ok)).toBe(true);
  }
  const before = sent();
  await subject.untilIdle();
  expect(sent()).toBe(before);
});
