/** What becomes of a server's word (samplers.md §1): each promise of the port, and each way of breaking it. */
import { describe, expect, test } from "bun:test";
import { weightVersion } from "@interlace/core";
import fc from "fast-check";
import { checkAnswer, type Bounds } from "../src/check-sequence.ts";
import { rawFailure, type RawSample, type RawSequence } from "../src/raw-sample.ts";
import { request } from "./support/requests.ts";

const BOUNDS: Bounds = {
  vocabSize: 576,
  logprobKind: "raw",
  stops: "server",
  before: null,
  after: null,
};

function raw(change: Partial<RawSequence> = {}): RawSequence {
  return {
    ok: true,
    index: 0,
    ids: [5, 6, 7],
    logprobs: [-0.5, -1, -2],
    entryIds: [5, 6, 7],
    finish: "length",
    versions: null,
    text: null,
    prompt: { ids: null, length: null },
    ...change,
  };
}

const one = (sample: RawSample, change = {}, bounds: Partial<Bounds> = {}) =>
  checkAnswer([sample], request(change), { ...BOUNDS, ...bounds })[0]!;

test("a good sample becomes a sequence with typed rows and the seed it was drawn with", () => {
  expect(one(raw())).toEqual({
    ok: true,
    ids: Int32Array.of(5, 6, 7),
    logprobs: Float32Array.of(-0.5, -1, -2),
    finish: "length",
    seed: 7,
    versions: [],
    serverText: null,
  });
});

test("no tokens at all are a legal sequence", () => {
  expect(one(raw({ ids: [], logprobs: [], entryIds: [] }))).toMatchObject({ ok: true });
});

describe("ids", () => {
  for (const id of [-1, 576, 1.5, null, "5", undefined, NaN, 2 ** 40]) {
    test(`${String(id)} is no id of this model`, () => {
      const sample = raw({ ids: [5, id, 7], entryIds: null });
      expect(one(sample)).toMatchObject({ ok: false, cause: "invalid_tokens" });
    });
  }
  test("the last row of the model is an id, also without a string", () => {
    expect(one(raw({ ids: [5, 6, 575], entryIds: null }))).toMatchObject({ ok: true });
  });
  test("more ids than were asked for are none of ours", () => {
    const failure = one(raw(), { maxTokens: 2 });
    expect(failure).toMatchObject({ cause: "invalid_tokens" });
    expect(failure).toHaveProperty("detail", "Expected at most 2 ids, got 3");
  });
});

describe("logprobs", () => {
  for (const logprob of [
    null,
    undefined,
    NaN,
    Infinity,
    -Infinity,
    0.001,
    3.2,
    -9999,
    -99999,
    -3.4e38,
    "-1",
  ]) {
    test(`${String(logprob)} is missing or impossible`, () => {
      const sample = raw({ logprobs: [-0.5, logprob, -2] });
      expect(one(sample)).toMatchObject({ ok: false, cause: "invalid_logprobs" });
    });
  }
  test("rounding may lift a certain token a little above 0", () => {
    expect(one(raw({ logprobs: [0, 1e-4, -9998] }))).toMatchObject({ ok: true });
  });
  test("fewer or more of them than ids are a mismatch", () => {
    expect(one(raw({ logprobs: [-1, -1], entryIds: [5, 6] }))).toMatchObject({
      cause: "invalid_logprobs",
    });
    expect(one(raw({ logprobs: [-1, -1, -1, -1] }))).toMatchObject({ cause: "invalid_logprobs" });
  });
  test("an entry for another id is a mismatch", () => {
    expect(one(raw({ entryIds: [5, 60, 7] }))).toMatchObject({
      cause: "invalid_logprobs",
      detail: "Expected the logprob of id 6 at place 1, got that of 60",
    });
  });
  test("a whole turn of zeros was filled in, unless top_p made each id certain", () => {
    const ids = [5, 6, 7, 8, 9, 10, 11, 12];
    const sample = raw({ ids, entryIds: ids, logprobs: ids.map(() => 0) });
    expect(one(sample)).toMatchObject({ cause: "invalid_logprobs" });
    expect(one(sample, {}, { logprobKind: "processed" })).toMatchObject({ ok: true });
  });
});

describe("finish", () => {
  test("an id of the stop set at the end is a stop, whatever the server said", () => {
    const sample = raw({ ids: [5, 6, 2], entryIds: null, finish: "length" });
    expect(one(sample)).toMatchObject({ finish: "stop" });
    expect(one({ ...sample, finish: "aborted" })).toMatchObject({ finish: "stop" });
  });
  test("a server that runs past a stop id is not trusted", () => {
    const sample = raw({ ids: [5, 2, 7], entryIds: null });
    expect(one(sample)).toMatchObject({ ok: false, cause: "invalid_tokens" });
  });
  test("a server without stop ids is cut after the first one", () => {
    const sample = raw({ ids: [5, 2, 7], entryIds: null, text: "a c", finish: "length" });
    expect(
      one(sample, {}, { stops: "cut", before: weightVersion("w"), after: weightVersion("w") }),
    ).toEqual({
      ok: true,
      ids: Int32Array.of(5, 2),
      logprobs: Float32Array.of(-0.5, -1),
      finish: "stop",
      seed: 7,
      versions: [{ version: weightVersion("w"), start: 0, end: 2 }],
      serverText: null,
    });
  });
});

describe("prompt", () => {
  test("a shorter prompt was truncated by the server", () => {
    const sample = raw({ prompt: { ids: null, length: 2 } });
    expect(one(sample)).toMatchObject({
      cause: "invalid_tokens",
      detail: "Expected a prompt of 3 ids, the server used 2",
    });
  });
  test("other ids are another prompt", () => {
    const sample = raw({ prompt: { ids: [1, 300, 302], length: 3 } });
    expect(one(sample)).toMatchObject({ cause: "invalid_tokens" });
    expect(one(raw({ prompt: { ids: [1, 300, 301], length: 3 } }))).toMatchObject({ ok: true });
  });
});

describe("siblings", () => {
  test("one bad sample leaves the others alone, in the order of their index", () => {
    const samples = [
      raw({ index: 2, ids: [9, 9, 9], entryIds: null }),
      raw({ index: 1, logprobs: [null, -1, -1] }),
      raw({ index: 0 }),
    ];
    const checked = checkAnswer(samples, request({ samples: 3 }), BOUNDS);
    expect(checked.map((entry) => (entry.ok ? [...entry.ids] : entry.cause))).toEqual([
      [5, 6, 7],
      "invalid_logprobs",
      [9, 9, 9],
    ]);
    expect(checked[2]).toMatchObject({ seed: 9 });
  });
  test("one that is missing fails alone", () => {
    const checked = checkAnswer([raw({ index: 1 })], request({ samples: 2 }), BOUNDS);
    expect(checked.map((entry) => entry.ok)).toEqual([false, true]);
    expect(checked[0]).toMatchObject({ cause: "incomplete" });
  });
  test("one too many, or the same index twice, fails all: nobody knows which is whose", () => {
    for (const samples of [
      [raw(), raw({ index: 1 })],
      [raw(), raw()],
    ]) {
      const checked = checkAnswer(samples, request({ samples: 1 }), BOUNDS);
      expect(checked.map((entry) => !entry.ok && entry.cause)).toEqual(["incomplete"]);
    }
  });
  test("a sample that the answer itself calls bad keeps its cause", () => {
    expect(one(rawFailure(0, "server_error", "why"))).toMatchObject({
      cause: "server_error",
      detail: "why",
    });
  });
  test("seeds wrap around at 2^31", () => {
    const samples = [raw(), raw({ index: 1 })];
    const checked = checkAnswer(samples, request({ samples: 2, seed: 2 ** 31 - 1 }), BOUNDS);
    expect(checked.map((entry) => entry.ok && entry.seed)).toEqual([2 ** 31 - 1, 0]);
  });
});

describe("versions", () => {
  const a = weightVersion("a");
  const b = weightVersion("b");
  test("the server's spans are kept, empty ones are not", () => {
    const versions = [
      { version: "a", start: 0, end: 2 },
      { version: "b", start: 2, end: 2 },
      { version: "c", start: 2, end: 3 },
    ];
    expect(one(raw({ versions }))).toMatchObject({
      versions: [
        { version: a, start: 0, end: 2 },
        { version: weightVersion("c"), start: 2, end: 3 },
      ],
    });
  });
  test("spans with a gap, an overlap, a missing end or no name are the server's fault", () => {
    for (const versions of [
      [{ version: "a", start: 0, end: 2 }],
      [{ version: "a", start: 1, end: 3 }],
      [
        { version: "a", start: 0, end: 2 },
        { version: "b", start: 1, end: 3 },
      ],
      [{ version: null, start: 0, end: 3 }],
    ]) {
      expect(one(raw({ versions }))).toMatchObject({ ok: false, cause: "server_error" });
    }
  });
  test("without spans the version before and after counts, the older one for all tokens but the last", () => {
    expect(one(raw(), {}, { before: a, after: a })).toMatchObject({
      versions: [{ version: a, start: 0, end: 3 }],
    });
    expect(one(raw(), {}, { before: a, after: b })).toMatchObject({
      versions: [
        { version: a, start: 0, end: 2 },
        { version: b, start: 2, end: 3 },
      ],
    });
  });
});

test("whatever a server says, an accepted sequence holds every promise", () => {
  const value = fc.oneof(
    fc.integer({ min: -2, max: 600 }),
    fc.double(),
    fc.constantFrom(null, "x", undefined, -9999, 0),
  );
  const sample = fc.record({
    index: fc.integer({ min: -1, max: 3 }),
    ids: fc.array(value, { maxLength: 10 }),
    logprobs: fc.array(value, { maxLength: 10 }),
    entryIds: fc.option(fc.array(value, { maxLength: 10 })),
    finish: fc.constantFrom("stop" as const, "length" as const, "aborted" as const),
  });
  fc.assert(
    fc.property(fc.array(sample, { maxLength: 4 }), fc.boolean(), (samples, cut) => {
      const asked = request({ samples: 3 });
      const bounds: Bounds = { ...BOUNDS, stops: cut ? "cut" : "server" };
      const checked = checkAnswer(
        samples.map((change) => raw(change)),
        asked,
        bounds,
      );
      expect(checked.length).toBe(3);
      for (const entry of checked) {
        if (!entry.ok) continue;
        expect(entry.ids.length).toBe(entry.logprobs.length);
        expect(entry.ids.length).toBeLessThanOrEqual(asked.maxTokens);
        expect(entry.ids.every((id) => id >= 0 && id < 576)).toBe(true);
        expect(entry.logprobs.every((p) => p <= Math.fround(1e-4) && p > -9999)).toBe(true);
        expect(entry.ids.slice(0, -1).includes(2)).toBe(false);
      }
    }),
  );
});
