/**
 * The claims that hold for every adapter and its server, fake or real: written once against the port. A subject serves
 * the policy in the box; its traits say what its kind can do, and where it cannot, the claim is a visible skip.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  append,
  concatIds,
  sampledSegment,
  segment,
  tokensOf,
  type SampleRequest,
  type Sequence,
  type Tokens,
} from "@interlace/core";
import { ask, EOS, FIRST, LONG, PROBLEMS, sampled } from "./asked.ts";
import { openOracle, type Oracle } from "./oracle.ts";
import type { Subject, Traits } from "./subject.ts";

const NEVER = new AbortController().signal;

// A real server on a busy machine is slow; nothing here is timed.
setDefaultTimeout(120_000);

export function runConformance(name: string, open: () => Promise<Subject>, traits: Traits): void {
  describe(`${name} conforms`, () => {
    let subject: Subject;
    let oracle: Oracle;
    beforeAll(async () => {
      [subject, oracle] = await Promise.all([open(), openOracle()]);
    }, 300_000);
    afterAll(() => subject?.[Symbol.asyncDispose]());

    const sample = async (change: Partial<SampleRequest> = {}): Promise<readonly Sequence[]> =>
      sampled(await subject.client.sampler.sample(ask(change), NEVER));

    function expectLogprobs(sequence: Sequence, request: SampleRequest, by: Oracle = oracle): void {
      if (traits.logprobKind === "unknown")
        throw new Error("Nothing is claimed of unknown logprobs");
      const prompt = concatIds(request.prompt);
      const all = by.explain(prompt, sequence.ids, request);
      const off = sequence.logprobs.map((p, at) =>
        Math.abs(p - all[traits.logprobKind as "raw"][at]!),
      );
      expect(Math.max(0, ...off)).toBeLessThanOrEqual(traits.tolerance);
    }

    test("the handshake sees what the server is", () => {
      expect(subject.client.identity).toMatchObject({
        kind: traits.kind,
        vocabSize: oracle.vocabSize,
        logprobKind: traits.logprobKind,
        honoursSeed: traits.honoursSeed,
        versionSource: traits.versionSource,
      });
    });

    test("n samples come in order, each within its budget and with the seed it was asked for", async () => {
      const sequences = await sample({ samples: 8, maxTokens: 24 });
      expect(sequences.map(({ seed }) => seed)).toEqual(
        [0, 1, 2, 3, 4, 5, 6, 7].map((i) => 1234 + i),
      );
      for (const { ids, logprobs } of sequences) {
        expect(ids.length).toBeLessThanOrEqual(24);
        expect(logprobs.length).toBe(ids.length);
      }
      expect(new Set(sequences.map(({ ids }) => ids.join(","))).size).toBeGreaterThan(1);
    });

    const settings = [
      { temperature: 1, topP: 1, topK: null },
      { temperature: 0.7, topP: 1, topK: null },
      { temperature: 1.4, topP: 1, topK: null },
      { temperature: 1, topP: 0.8, topK: null },
      { temperature: 0.8, topP: 0.9, topK: 20 },
    ];
    for (const setting of settings) {
      test(`logprobs are ${traits.logprobKind} at ${JSON.stringify(setting)}`, async () => {
        for (const [at, { prompt }] of PROBLEMS.entries()) {
          const change = {
            ...setting,
            prompt: tokensOf(Int32Array.from(prompt)),
            samples: 3,
            seed: 900 + 10 * at,
          };
          for (const sequence of await sample(change)) expectLogprobs(sequence, ask(change));
        }
      });
    }

    test("greedy samples are the most likely ids, also several of them", async () => {
      const change = { temperature: 0, samples: 2, maxTokens: 12 };
      const [a, b] = await sample(change);
      expect([...a!.ids]).toEqual([...b!.ids]);
      expect([...a!.ids]).toEqual([...oracle.explain(concatIds(FIRST), a!.ids, ask(change)).best]);
    });

    test.skipIf(!traits.honoursSeed)(
      "one seed draws the same again, and sample i is the single one of seed + i",
      async () => {
        const group = await sample({ samples: 4, maxTokens: 24 });
        const again = await sample({ samples: 4, maxTokens: 24 });
        const single = await sample({ maxTokens: 24, seed: 1236 });
        const ids = (sequences: readonly Sequence[]) => sequences.map((one) => [...one.ids]);
        expect(ids(again)).toEqual(ids(group));
        expect(ids(single)[0]).toEqual(ids(group)[2]);
        const [other] = await sample({ maxTokens: 24, seed: 77 });
        expect(ids(group)).not.toContainEqual([...other!.ids]);
      },
    );

    test("a turn that ends at a stop id keeps it, with its logprob, and is a stop", async () => {
      const sequences = await sample({ samples: 16, maxTokens: 96 });
      const stopped = sequences.filter(({ finish }) => finish === "stop");
      expect(stopped.length).toBeGreaterThan(0);
      for (const { ids } of stopped) {
        expect(ids.at(-1)).toBe(EOS);
        expect(ids.indexOf(EOS)).toBe(ids.length - 1);
      }
    });

    test("a turn that is cut is a length, and one whose last allowed token is a stop id is a stop", async () => {
      const [first] = await sample({ temperature: 0, maxTokens: 40 });
      const cut = first!.ids.length - 1;
      expect(await sample({ temperature: 0, maxTokens: cut })).toMatchObject([
        { finish: "length" },
      ]);
      expect(await sample({ temperature: 0, maxTokens: cut + 1 })).toMatchObject([
        { finish: "stop" },
      ]);
      const [other] = await sample({
        temperature: 0,
        maxTokens: 40,
        stopIds: [EOS, first!.ids[2]!],
      });
      expect([other!.finish, [...other!.ids]]).toEqual([
        "stop",
        Array.from(first!.ids.subarray(0, first!.ids.indexOf(first!.ids[2]!) + 1)),
      ]);
    });

    test("one token is one token", async () => {
      const sequences = await sample({ samples: 4, maxTokens: 1 });
      expect(sequences.map(({ ids }) => ids.length)).toEqual([1, 1, 1, 1]);
    });

    test("a later turn goes on from its own ids", async () => {
      const [turn] = await sample({ maxTokens: 24 });
      const { observation } = PROBLEMS[0]!;
      let prompt: Tokens = append(FIRST, sampledSegment(turn!.ids, turn!.logprobs));
      prompt = append(prompt, segment("observed", Int32Array.from(observation)));
      const change = { prompt, id: "s0-q0-g0-t1", maxTokens: 16 };
      const [next] = await sample(change);
      expectLogprobs(next!, ask(change));
    });

    test("many requests at once keep their own answers", async () => {
      const changes = PROBLEMS.flatMap(({ prompt }, question) =>
        [0, 1, 2].map((turn) => ({
          id: `s0-q${question}-g${turn}-t0`,
          affinity: `s0-q${question}`,
          prompt: tokensOf(Int32Array.from(prompt)),
          seed: 50 * question + turn,
          maxTokens: 12,
        })),
      );
      const all = await Promise.all(changes.map((change) => sample(change)));
      all.forEach(([sequence], at) => expectLogprobs(sequence!, ask(changes[at])));
    });

    test("an id outside the vocabulary is refused here, and the server lives on", async () => {
      const prompt = tokensOf(Int32Array.of(5, oracle.vocabSize));
      const [entry] = await subject.client.sampler.sample(ask({ prompt }), NEVER);
      expect(entry).toMatchObject({ ok: false, cause: "refused" });
      expect(await sample({ maxTokens: 1 })).toHaveLength(1);
    });

    test("a prompt that fills the context is refused, with the server's words", async () => {
      const ids = Int32Array.from(
        { length: 2 * (subject.client.identity.contextLength ?? 1024) },
        (_, at) => at % 500,
      );
      const entries = await subject.client.sampler.sample(
        ask({ prompt: tokensOf(ids), samples: 2 }),
        NEVER,
      );
      expect(entries.map((entry) => !entry.ok && entry.cause)).toEqual([
        expect.stringMatching(/^(refused|server_error|drift)$/) as unknown as string,
        expect.stringMatching(/^(refused|server_error|drift)$/) as unknown as string,
      ]);
    });

    test("an abort rejects, and the next request is answered", async () => {
      const controller = new AbortController();
      const sampling = subject.client.sampler.sample(ask(LONG), controller.signal);
      controller.abort(new Error("enough"));
      expect(sampling).rejects.toThrow("enough");
      await sampling.catch(() => {});
      expect(await sample({ maxTokens: 1 })).toHaveLength(1);
    });

    test.skipIf(!traits.stopsOnAbort)("an abort stops the server's decode loop", async () => {
      const controller = new AbortController();
      const sampling = subject.client.sampler.sample(ask(LONG), controller.signal);
      const ended = sampling.then(
        () => Promise.reject(new Error("It ended before the server was seen at work")),
        () => {},
      );
      await Promise.race([subject.untilBusy(), ended]);
      controller.abort(new Error("enough"));
      expect(sampling).rejects.toThrow("enough");
      await sampling.catch(() => {});
      await subject.untilIdle();
    });

    test.skipIf(!traits.holds)(
      "a server that is held answers when it is let go",
      async () => {
        if (subject.hold === null) throw new Error("The subject has no hold");
        await subject.hold.pause();
        let answered = false;
        const sampling = sample({ maxTokens: 4 }).then((sequences) => {
          answered = true;
          return sequences;
        });
        await Bun.sleep(50);
        expect(answered).toBe(false);
        await subject.hold.resume();
        const [sequence] = await sampling;
        expectLogprobs(sequence!, ask({ maxTokens: 4 }));
      },
      60_000,
    );

    test.skipIf(!traits.loadsWeights)(
      "new weights are those that new samples name and come from",
      async () => {
        const { feed } = subject.client;
        if (subject.weights === null || feed === null)
          throw new Error("The subject has no weights");
        const { first, other } = subject.weights;
        const names = (sequences: readonly Sequence[]) =>
          sequences.flatMap(({ versions }) => versions.map(({ version }) => version));
        const changed = [];
        // And back, so that the other tests meet the weights that they expect.
        for (const { version, location, folder } of [other, first]) {
          await feed.announce(version, location, NEVER);
          expect(feed.current()).toBe(version);
          const sequences = await sample({ samples: 2 });
          changed.push({ sequences, oracle: await openOracle(folder) });
          expect(names(sequences)).toEqual([version, version]);
        }
        for (const { sequences, oracle: then } of changed) {
          for (const sequence of sequences) expectLogprobs(sequence, ask(), then);
        }
      },
      60_000,
    );
  });
}
