/** Requests through the whole composition: exact logprobs, every fault with its end, aborts, replicas, load. */
import { describe, expect, test } from "bun:test";
import { tokensOf, weightVersion } from "@interlace/core";
import type { Retry } from "../src/wrappers/retry.ts";
import { ask, open } from "./support/open-client.ts";
import { NEVER } from "./support/requests.ts";
import { distribution, LOGITS, toyVllm, type Fault } from "./support/toy-vllm.ts";

test("samples are what was drawn, in order, with the logprobs of the model", async () => {
  await using server = await toyVllm();
  await using client = await open([server]);
  const entries = await client.sampler.sample(ask({ samples: 4 }), NEVER);
  const total = Math.log(LOGITS.reduce((sum, logit) => sum + Math.exp(logit), 0));
  expect(entries.length).toBe(4);
  for (const [index, entry] of entries.entries()) {
    if (!entry.ok) throw new Error(entry.detail);
    expect(entry.seed).toBe(7 + index);
    expect(entry.finish).toBe(entry.ids.at(-1) === 0 ? "stop" : "length");
    const { length } = entry.ids;
    expect(entry.versions).toEqual([{ version: weightVersion("default"), start: 0, end: length }]);
    entry.ids.forEach((id, place) => {
      expect(entry.logprobs[place]).toBeCloseTo(LOGITS[id]! - total, 5);
    });
  }
});

test("processed logprobs are those of what top_p keeps", async () => {
  await using server = await toyVllm({ logprobs: "processed" });
  await using client = await open([server]);
  const request = ask({ temperature: 0.5, topP: 0.5, samples: 2 });
  const chances = distribution(0.5, 0.5);
  for (const entry of await client.sampler.sample(request, NEVER)) {
    if (!entry.ok) throw new Error(entry.detail);
    entry.ids.forEach((id, place) => {
      expect(entry.logprobs[place]).toBeCloseTo(Math.log(chances.get(id)!), 5);
    });
  }
});

test("a prompt with an id that the model does not know is never sent", async () => {
  await using server = await toyVllm();
  await using client = await open([server]);
  const before = server.received.length;
  const prompt = tokensOf(Int32Array.of(1, 16));
  const [entry] = await client.sampler.sample(ask({ prompt }), NEVER);
  expect(entry).toMatchObject({
    ok: false,
    cause: "refused",
    detail: "Expected prompt ids in [0, 16), got 16; nothing was sent",
  });
  expect(server.received.length).toBe(before);
});

/** Each fault hits one request: how its three samples end, and how often it was sent. */
const ENDS: Readonly<Record<Fault, readonly [readonly string[], number]>> = {
  "reset before headers": [["ok", "ok", "ok"], 2],
  "reset after headers": [["ok", "ok", "ok"], 2],
  "cut in the body": [["ok", "ok", "ok"], 2],
  "429": [["ok", "ok", "ok"], 2],
  "502 html": [["ok", "ok", "ok"], 2],
  "503 html": [["ok", "ok", "ok"], 2],
  "504 html": [["ok", "ok", "ok"], 2],
  "500 text": [["server_error", "server_error", "server_error"], 1],
  "400": [["refused", "refused", "refused"], 1],
  "200 html": [["server_error", "server_error", "server_error"], 1],
  "one sample too few": [["ok", "ok", "incomplete"], 1],
  "NaN logprob": [["server_error", "server_error", "server_error"], 1],
  "null logprob": [["invalid_logprobs", "ok", "ok"], 1],
  "-9999": [["invalid_logprobs", "ok", "ok"], 1],
  "foreign id": [["invalid_tokens", "ok", "ok"], 1],
  "other entry id": [["invalid_logprobs", "ok", "ok"], 1],
  "longer logprobs": [["invalid_logprobs", "ok", "ok"], 1],
  "other prompt": [["invalid_tokens", "invalid_tokens", "invalid_tokens"], 1],
  never: [["incomplete", "incomplete", "incomplete"], 1],
};

describe("a fault ends as samplers.md says", () => {
  for (const [fault, [ends, sent]] of Object.entries(ENDS) as [Fault, (typeof ENDS)[Fault]][]) {
    test(`${fault}: ${ends.join(", ")}, sent ${sent} times`, async () => {
      let from = Infinity;
      await using server = await toyVllm({ fault: (place) => (place === from ? fault : null) });
      const sampleTimeoutSeconds = fault === "never" ? 0.3 : 600;
      await using client = await open([server], { sampleTimeoutSeconds });
      from = server.received.length;
      const entries = await client.sampler.sample(ask({ samples: 3 }), NEVER);
      expect(entries.map((entry) => (entry.ok ? "ok" : entry.cause))).toEqual([...ends]);
      expect(server.received.length - from).toBe(sent);
      const names = new Set(server.received.slice(from).map(({ request_id }) => request_id));
      expect(names.size).toBe(sent);
    });
  }
});

test("an abort rejects, closes the socket and tells the server the name that it knows", async () => {
  await using server = await toyVllm({ fault: (place) => (place >= from ? "never" : null) });
  let from = Infinity;
  await using client = await open([server]);
  from = server.received.length;
  const controller = new AbortController();
  const sampling = client.sampler.sample(ask(), controller.signal);
  while (server.running() === 0) await Bun.sleep(1);
  const name = server.received.at(-1)!.request_id;
  controller.abort(new Error("enough"));
  expect(sampling).rejects.toThrow("enough");
  await sampling.catch(() => {});
  expect(server.aborted).toEqual([`generate-tokens-${name}`]);
  while (server.running() > 0) await Bun.sleep(1);
  expect(server.received.length).toBe(from + 1);
});

test("a sample that is too late is stopped at the server too", async () => {
  let from = Infinity;
  await using server = await toyVllm({ fault: (place) => (place >= from ? "never" : null) });
  await using client = await open([server], { sampleTimeoutSeconds: 0.2 });
  from = server.received.length;
  const [entry] = await client.sampler.sample(ask(), NEVER);
  expect(entry).toMatchObject({
    cause: "incomplete",
    detail: "No answer within 0.2 s of the request's slot",
  });
  expect(server.aborted.length).toBe(1);
});

test("with a replica gone its requests go on at the other, under the same seed", async () => {
  await using a = await toyVllm();
  const b = await toyVllm();
  await using client = await open([a, b]);
  const asked = (index: number) =>
    ask({ affinity: `g${index}`, id: `s0-q${index}-gx-t0`, seed: 100 + index });
  const [first] = await client.sampler.sample(asked(0), NEVER);
  await b[Symbol.asyncDispose]();
  const again = await Promise.all(
    Array.from({ length: 12 }, (_, index) => client.sampler.sample(asked(index), NEVER)),
  );
  expect(again.flat().every((entry) => entry.ok)).toBe(true);
  expect(again[0]![0]).toEqual(first);
});

test("64 × 8 with long-tailed latencies and 1% of each transport fault: only what was hit is asked again", async () => {
  const faults: readonly Fault[] = [
    "reset before headers",
    "reset after headers",
    "cut in the body",
    "429",
    "502 html",
    "503 html",
    "504 html",
  ];
  let from = Infinity;
  // Deterministic: of every hundred arrivals seven are hit, one by each fault.
  const faultAt = (place: number): Fault | null =>
    place < from ? null : (faults[((place - from) * 37) % 100] ?? null);
  const hit: string[] = [];
  await using server = await toyVllm({
    delayMs: (place) => (place < from ? 0 : place % 50 === 0 ? 120 : (place * 7) % 10),
    fault: (place, received) => {
      const fault = faultAt(place);
      if (fault !== null) hit.push(received.request_id);
      return fault;
    },
  });
  const retries: Retry[] = [];
  await using client = await open(
    [server],
    { maxInFlight: 128 },
    { onRetry: (retry) => retries.push(retry) },
  );
  from = server.received.length;
  const first = Array.from({ length: 64 }, (_, question) =>
    client.sampler.sample(
      ask({
        id: `s0-q${question}-gx-t0`,
        affinity: `q${question}`,
        samples: 8,
        seed: question * 64,
      }),
      NEVER,
    ),
  );
  const groups = await Promise.all(first);
  const later = groups.flatMap((members, question) =>
    members.map((_, member) =>
      client.sampler.sample(
        ask({
          id: `s0-q${question}-g${member}-t1`,
          affinity: `q${question}`,
          seed: 5000 + question * 64 + member,
        }),
        NEVER,
      ),
    ),
  );
  const all = [...groups.flat(), ...(await Promise.all(later)).flat()];
  expect(all.length).toBe(64 * 8 * 2);
  expect(all.every((entry) => entry.ok)).toBe(true);
  const sent = server.received.slice(from);
  expect(hit.length).toBeGreaterThan(20);
  expect(retries.length).toBe(hit.length);
  expect(sent.length).toBe(64 + 64 * 8 + hit.length);
  expect(new Set(sent.map(({ request_id }) => request_id)).size).toBe(sent.length);
  expect(server.mostRunning()).toBeLessThanOrEqual(128);
});
