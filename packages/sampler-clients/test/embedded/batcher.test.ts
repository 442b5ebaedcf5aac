import { weightVersion } from "@interlace/core";
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { BatchAnswer } from "../../src/embedded/batch-request.ts";
import { createBatcher, type Batcher } from "../../src/embedded/batcher.ts";
import { alone, EOS, openEngine, policy, problems, request, weights } from "./policy-fixture.ts";

function drain(batcher: Batcher): BatchAnswer[] {
  const answers: BatchAnswer[] = [];
  while (batcher.counts().live + batcher.counts().waiting > 0) answers.push(...batcher.step());
  return answers;
}

describe("the batcher", () => {
  test("property: an answer has the same bits alone, in any company, from any cache", async () => {
    const engine = await openEngine(7);
    const reference = await openEngine(7);
    const expected = new Map<string, unknown>();
    const asked = fc.record({
      number: fc.nat(5),
      samples: fc.constantFrom(1, 1, 2, 5, 9),
      at: fc.nat(12),
      temperature: fc.constantFrom(0, 0.7, 1),
      topP: fc.constantFrom(1, 0.9),
    });
    fc.assert(
      fc.property(
        fc.array(asked, { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 7 }),
        check,
      ),
      { numRuns: 25 },
    );
    function check(
      asks: { number: number; samples: number; at: number; temperature: number; topP: number }[],
      batch: number,
    ): void {
      const requests = asks.map(({ number, ...rest }, id) => {
        return { ...request(number, rest), id, at: rest.at };
      });
      const batcher = createBatcher(engine, policy.version, batch);
      const answers: BatchAnswer[] = [];
      for (let step = 0; step <= 12; step++) {
        for (const ask of requests) if (ask.at === step) batcher.submit(ask);
        answers.push(...batcher.step());
      }
      answers.push(...drain(batcher));
      const answered = answers.map(({ id }) => id).sort((a, b) => a - b);
      expect(answered).toEqual(requests.map(({ id }) => id));
      for (const { id, sequences } of answers) {
        const { number, samples, temperature, topP } = asks[id]!;
        const key = JSON.stringify([number, samples, temperature, topP]);
        if (!expected.has(key)) {
          const single = request(number, { samples, temperature, topP });
          expected.set(key, alone(reference, single));
        }
        expect(sequences as unknown).toEqual(expected.get(key));
      }
    }
  });

  test("sample i of a request is the single request with seed + i", async () => {
    const engine = await openEngine(8);
    const four = alone(engine, request(1, { samples: 4, seed: 2 ** 31 - 2 }));
    expect(four.map(({ seed }) => seed)).toEqual([2 ** 31 - 2, 2 ** 31 - 1, 0, 1]);
    for (const sequence of four) {
      expect(alone(engine, request(1, { seed: sequence.seed }))).toEqual([sequence]);
    }
    expect(new Set(four.map(({ ids }) => ids.join())).size).toBe(4);
  });

  test("a next turn feeds only what is new, with the same bits as a cold cache", async () => {
    const { prompt, observation } = problems[0]!;
    const batcher = createBatcher(await openEngine(8), policy.version, 8);
    batcher.submit(request(0, { prompt: Int32Array.from(prompt), samples: 4 }));
    const [first] = drain(batcher);
    const turn1 = first!.sequences[0]!.ids;
    const turn2 = Int32Array.from([...prompt, ...turn1, ...observation]);
    const before = batcher.counts().rows;
    batcher.submit(request(1, { prompt: turn2, maxTokens: 1 }));
    const [second] = drain(batcher);
    // The last sampled token was never fed.
    expect(batcher.counts().rows - before).toBe(1 + observation.length);
    const cold = alone(await openEngine(1), request(1, { prompt: turn2, maxTokens: 1 }));
    expect(second!.sequences).toEqual(cold);
  });

  test("siblings are fed one prompt", async () => {
    const batcher = createBatcher(await openEngine(8), policy.version, 8);
    batcher.submit(request(0, { samples: 8, maxTokens: 1 }));
    drain(batcher);
    expect(batcher.counts()).toMatchObject({ rows: 20, steps: 1, tokens: 8 });
  });

  test("requests of one prompt that meet in a step are fed it once, whoever asks", async () => {
    const batcher = createBatcher(await openEngine(8), policy.version, 8);
    const same = request(0, { maxTokens: 2 }).prompt;
    for (const id of [0, 1, 2]) {
      batcher.submit(request(id, { prompt: same, maxTokens: 1, temperature: id === 1 ? 0 : 1 }));
    }
    const answers = drain(batcher);
    expect(batcher.counts()).toMatchObject({ rows: 20, steps: 1, tokens: 3 });
    const engine = await openEngine(1);
    for (const { id, sequences } of answers) {
      const single = request(id, { prompt: same, maxTokens: 1, temperature: id === 1 ? 0 : 1 });
      expect(sequences).toEqual(alone(engine, single));
    }
  });

  test("swapped weights keep a stale cache until it is forgotten, as servers that forget do", async () => {
    const changed = new Map([...weights].map(([name, v]) => [name, v.map((x) => x * 0.9)]));
    const engine = await openEngine(2);
    engine.load(changed);
    const [right] = alone(engine, request(0, { maxTokens: 4 }));
    const batcher = createBatcher(await openEngine(2), policy.version, 2);
    const sample = (id: number) => {
      batcher.submit(request(0, { id, prompt: request(0).prompt, seed: 1000, maxTokens: 4 }));
      return drain(batcher)[0]!.sequences[0]!;
    };
    sample(0);
    batcher.swap(changed);
    const stale = sample(1);
    expect(stale.logprobs[0]).not.toBe(right!.logprobs[0]);
    expect(stale.versions).toEqual([{ version: policy.version, start: 0, end: 4 }]);
    batcher.label(weightVersion("next"));
    batcher.forget();
    expect(sample(2)).toEqual({
      ...right!,
      versions: [{ version: weightVersion("next"), start: 0, end: 4 }],
    });
  });

  test("a turn of nothing but EOS is one token and a stop", async () => {
    const batcher = createBatcher(await openEngine(1), policy.version, 1);
    // Every id stops: whatever comes first ends the turn.
    const stopIds = Array.from({ length: 512 }, (_, id) => id);
    batcher.submit(request(0, { stopIds }));
    const [answer] = drain(batcher);
    expect(answer!.sequences[0]).toMatchObject({ finish: "stop" });
    expect(answer!.sequences[0]!.ids.length).toBe(1);
  });

  test("the stop id is the last id, also where the limit ends; without stop ids the limit decides", async () => {
    const engine = await openEngine(16);
    const prompt = Int32Array.from(problems[1]!.prompt);
    const sequences = alone(engine, request(0, { prompt, samples: 16, maxTokens: 96 }));
    const ended = sequences.find(({ finish }) => finish === "stop")!;
    expect(ended.ids.at(-1)).toBe(EOS);
    expect(ended.ids.indexOf(EOS)).toBe(ended.ids.length - 1);
    const at = request(0, { prompt, seed: ended.seed, maxTokens: ended.ids.length });
    expect(alone(engine, at)).toEqual([ended]);
    const [short] = alone(engine, { ...at, maxTokens: at.maxTokens - 1 });
    expect([short!.finish, short!.ids.length]).toEqual(["length", ended.ids.length - 1]);
    const [on] = alone(engine, { ...at, stopIds: [], maxTokens: ended.ids.length + 2 });
    expect([on!.finish, on!.ids.length]).toEqual(["length", ended.ids.length + 2]);
  });

  test("the context cuts max_tokens: 500 of 512 leaves 12", async () => {
    const prompt = Int32Array.from({ length: 500 }, (_, i) => i % 400);
    const engine = await openEngine(2);
    const [cut] = alone(engine, request(0, { prompt, stopIds: [], maxTokens: 96 }));
    expect([cut!.finish, cut!.ids.length]).toEqual(["length", 12]);
    const batcher = createBatcher(engine, policy.version, 2);
    expect(() => batcher.submit(request(1, { prompt: new Int32Array(512) }))).toThrow(
      "Expected a prompt of 1 to 511 tokens, seen 512",
    );
  });

  test("an abort between tokens ends the decoding and returns what was sampled", async () => {
    const batcher = createBatcher(await openEngine(4), policy.version, 4);
    batcher.submit(request(0, { samples: 3, stopIds: [] }));
    batcher.submit(request(1, { samples: 3, stopIds: [] }));
    for (let i = 0; i < 5; i++) batcher.step();
    expect(batcher.counts()).toMatchObject({ live: 4, waiting: 2 });
    const aborted = batcher.abort(0);
    expect(aborted!.sequences.map(({ finish, ids }) => [finish, ids.length])).toEqual([
      ["aborted", 5],
      ["aborted", 5],
      ["aborted", 5],
    ]);
    expect(batcher.counts()).toMatchObject({ live: 1, waiting: 2 });
    expect(batcher.abort(0)).toBeNull();
    const [other] = drain(batcher);
    expect(other!.sequences).toEqual(
      alone(await openEngine(4), request(1, { samples: 3, stopIds: [] })),
    );
  });

  test("weights that load between tokens mark both spans, and the second is exactly the new policy's", async () => {
    const changed = new Map(
      [...weights].map(([name, values]) => [name, values.map((value) => value * 0.9)]),
    );
    const next = weightVersion("next");
    const batcher = createBatcher(await openEngine(4), policy.version, 4);
    const ask = request(0, { stopIds: [], maxTokens: 10 });
    batcher.submit(ask);
    for (let i = 0; i < 4; i++) batcher.step();
    batcher.load(changed, next);
    const [{ sequences } = { sequences: [] }] = drain(batcher);
    const sequence = sequences[0]!;
    expect(sequence.versions).toEqual([
      { version: policy.version, start: 0, end: 4 },
      { version: next, start: 4, end: 10 },
    ]);
    const old = alone(await openEngine(1), ask)[0]!;
    expect(sequence.ids.slice(0, 4)).toEqual(old.ids.slice(0, 4));
    // Token 4 from a cold engine with the new weights: the cache of the old ones was not used.
    const engine = await openEngine(1);
    engine.load(changed);
    const prefix = [...ask.prompt, ...sequence.ids.slice(0, 4)];
    const row = engine.forward(
      prefix,
      [...prefix.keys()],
      prefix.map(() => 0),
      [prefix.length - 1],
    );
    const total = row.reduce((sum, logit) => sum + Math.exp(logit), 0);
    expect(sequence.logprobs[4]).toBeCloseTo(row[sequence.ids[4]!]! - Math.log(total), 5);
    // And a new request does not meet what the old weights cached.
    batcher.submit({ ...ask, id: 1 });
    const [again] = drain(batcher);
    expect(again!.sequences).not.toEqual([old]);
    const fresh = createBatcher(engine, next, 1);
    fresh.submit({ ...ask, id: 1 });
    expect(again!.sequences).toEqual(drain(fresh)[0]!.sequences);
  });

  test("weights of NaN break the sequence after what was sampled; nothing throws", async () => {
    const batcher = createBatcher(await openEngine(2), policy.version, 2);
    batcher.submit(request(0, { stopIds: [] }));
    for (let i = 0; i < 3; i++) batcher.step();
    const poisoned = new Map([...weights].map(([name, v]) => [name, v.map(() => Number.NaN)]));
    batcher.load(poisoned, weightVersion("poisoned"));
    const [answer] = drain(batcher);
    expect(answer!.sequences.map(({ finish, ids }) => [finish, ids.length])).toEqual([
      ["broken", 3],
    ]);
  });

  test("weights of another shape are refused, and the old ones go on", async () => {
    const engine = await openEngine(1);
    const before = alone(engine, request(3));
    const wrong = new Map(weights);
    wrong.set("model.norm.weight", new Float32Array(64));
    expect(() => engine.load(wrong)).toThrow("tensor model.norm.weight with 128 values, seen 64");
    expect(alone(engine, request(3))).toEqual(before);
  });
});
