import { tokensOf, weightVersion, type SampleRequest } from "@interlace/core";
import { describe, expect, test } from "bun:test";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { embeddedPolicyFolder, hashWeights, readWeights } from "../../src/embedded/load-policy.ts";
import { createEmbeddedSampler, type EmbeddedSamplerOptions } from "../../src/embedded/sampler.ts";
import { EOS, policy, problems, somePrompt } from "./policy-fixture.ts";

const never = new AbortController().signal;

function ask(overrides: Partial<SampleRequest> = {}): SampleRequest {
  return {
    id: "s0-q0-gx-t0",
    affinity: "0/0",
    prompt: tokensOf(Int32Array.from(problems[0]!.prompt)),
    samples: 2,
    maxTokens: 96,
    temperature: 1,
    topP: 1,
    topK: null,
    seed: 7,
    stopIds: [EOS],
    ...overrides,
  };
}

async function answers(options: EmbeddedSamplerOptions): Promise<unknown> {
  await using sampler = await createEmbeddedSampler(options);
  return await Promise.all(
    problems.slice(0, 12).map(({ prompt }, i) => {
      const tokens = tokensOf(Int32Array.from(prompt));
      return sampler.sample(ask({ affinity: `${i}`, prompt: tokens, samples: 3, seed: i }), never);
    }),
  );
}

/** What a promise rejects with. */
async function reasonOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("Expected a rejection, seen none");
}

describe("the embedded sampler", () => {
  test("answers have the same bits with one worker or three, batches of 2 or 16, warm or cold", async () => {
    const expected = await answers({ workers: 1 });
    expect(await answers({ workers: 3, batch: 2, slots: 2 })).toEqual(expected);
    expect(await answers({ workers: 2, batch: 5, slots: 9 })).toEqual(expected);
  });

  test("its identity says what it is", async () => {
    await using sampler = await createEmbeddedSampler({ workers: 1 });
    expect(await sampler.identity()).toEqual({
      kind: "embedded",
      model: "interlace-embedded",
      vocabSize: 512,
      contextLength: 512,
      logprobKind: "temperature_scaled",
      honoursSeed: true,
      versionSource: "per_token",
      weightVersion: weightVersion("sha256-9c0353e758bbe623"),
    });
    expect(sampler.kernels).toBe("simd");
  });

  test("every sequence carries its seed, its version and a logprob per id", async () => {
    await using sampler = await createEmbeddedSampler({ workers: 1 });
    const sequences = await sampler.sample(ask(), never);
    expect(sequences.length).toBe(2);
    for (const [i, sequence] of sequences.entries()) {
      if (!sequence.ok) throw new Error(sequence.detail);
      const { ids, logprobs, finish, seed, versions } = sequence;
      expect(seed).toBe(7 + i);
      expect(finish === "stop").toBe(ids.at(-1) === EOS);
      expect(logprobs.length).toBe(ids.length);
      expect(versions).toEqual([{ version: policy.version, start: 0, end: ids.length }]);
    }
  });

  test("what it cannot sample is refused, once per sample, and nothing dies", async () => {
    await using sampler = await createEmbeddedSampler({ workers: 1 });
    const refused: [Partial<SampleRequest>, string][] = [
      [{ prompt: tokensOf(new Int32Array(0)) }, "at least one token, seen none"],
      [{ prompt: tokensOf(new Int32Array(512)) }, "at most 511 tokens (context 512), seen 512"],
      [{ prompt: tokensOf(Int32Array.of(5, 512)) }, "prompt ids in [0, 512), seen 512"],
      [{ prompt: tokensOf(Int32Array.of(-1)) }, "prompt ids in [0, 512), seen -1"],
      [{ maxTokens: 0 }, "max_tokens of at least 1, seen 0"],
    ];
    for (const [overrides, detail] of refused) {
      const result = await sampler.sample(ask(overrides), never);
      expect(result.length).toBe(2);
      for (const one of result) {
        expect(one).toMatchObject({ ok: false, boundary: "sampler", cause: "refused" });
        expect(one).toHaveProperty("detail", expect.stringContaining(detail));
      }
    }
    expect(await sampler.sample(ask(), never)).toMatchObject([{ ok: true }, { ok: true }]);
  });

  test("an abort rejects its request with its reason and leaves the others alone", async () => {
    await using sampler = await createEmbeddedSampler({ workers: 1 });
    const controller = new AbortController();
    const long = ask({ stopIds: [], maxTokens: 400, samples: 8, prompt: tokensOf(somePrompt(1)) });
    const aborted = sampler.sample(long, controller.signal);
    const other = sampler.sample(ask(), never);
    controller.abort(new Error("enough"));
    expect(await reasonOf(aborted)).toEqual(new Error("enough"));
    expect(await other).toMatchObject([{ ok: true }, { ok: true }]);
    const late = sampler.sample(ask(), controller.signal);
    expect(await reasonOf(late)).toEqual(new Error("enough"));
  });

  test("closing it fails what is under way instead of leaving it to hang", async () => {
    const sampler = await createEmbeddedSampler({ workers: 2 });
    const long = ask({ stopIds: [], maxTokens: 400, samples: 1 });
    const held = sampler.sample(long, never);
    await sampler[Symbol.asyncDispose]();
    expect(await held).toMatchObject([{ ok: false, boundary: "sampler", cause: "server_error" }]);
    expect(await sampler.sample(long, never)).toMatchObject([{ ok: false, cause: "server_error" }]);
  });

  test("announced weights are loaded by every worker; a file that is not what was announced is refused", async () => {
    const folder = await mkdtemp(join(tmpdir(), "weights-"));
    try {
      await cp(embeddedPolicyFolder, folder, { recursive: true });
      const file = join(folder, "model.safetensors");
      const bytes = await Bun.file(file).bytes();
      // Some weights of the second layer, written as float16 zeros: a real, different model.
      bytes.fill(0, 600_000, 632_000);
      await Bun.write(file, bytes);
      const version = hashWeights(bytes);

      await using sampler = await createEmbeddedSampler({ workers: 2 });
      const wanted = ask({ samples: 6 });
      const before = await sampler.sample(wanted, never);
      const wrong = sampler.announce(weightVersion("step-1"), file, never);
      expect(String(await reasonOf(wrong))).toContain(
        `Expected weights step-1 at ${file}, seen ${version}`,
      );
      expect(await sampler.sample(wanted, never)).toEqual(before);
      expect(sampler.current()).toBe(policy.version);

      await sampler.announce(version, folder, never);
      expect(sampler.current()).toBe(version);
      await using fresh = await createEmbeddedSampler({ workers: 1, folder });
      const after = await Promise.all(
        ["a", "b"].map((affinity) => sampler.sample({ ...wanted, affinity }, never)),
      );
      const expected = await fresh.sample(wanted, never);
      expect(after).toEqual([expected, expected]);
      expect(after[0]).not.toEqual(before);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("a torn weight file is refused and the old weights go on", async () => {
    const folder = await mkdtemp(join(tmpdir(), "weights-"));
    try {
      const file = join(folder, "model.safetensors");
      await Bun.write(file, policy.bytes.slice(0, 500_000));
      await using sampler = await createEmbeddedSampler({ workers: 1 });
      const { version } = await readWeights(file);
      const announced = sampler.announce(version, file, never);
      expect(String(await reasonOf(announced))).toContain("the file is cut short");
      expect(sampler.current()).toBe(policy.version);
      expect(await sampler.sample(ask(), never)).toMatchObject([{ ok: true }, { ok: true }]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("the logprob kind is the one it names", async () => {
    const kinds = ["raw", "temperature_scaled", "processed"] as const;
    const request = ask({ temperature: 0.5, topP: 0.8, samples: 1 });
    const results = await Promise.all(
      kinds.map(async (logprobKind) => {
        await using sampler = await createEmbeddedSampler({ workers: 1, logprobKind });
        expect((await sampler.identity()).logprobKind).toBe(logprobKind);
        const [sequence] = await sampler.sample(request, never);
        if (!sequence?.ok) throw new Error(sequence?.detail);
        return sequence;
      }),
    );
    const sums = results.map(({ logprobs }) => logprobs.reduce((a, b) => a + b, 0));
    expect(results[1]!.ids).toEqual(results[0]!.ids);
    expect(results[2]!.ids).toEqual(results[0]!.ids);
    expect(sums[2]!).toBeGreaterThan(sums[1]!);
    expect(sums[1]!).not.toBeCloseTo(sums[0]!, 3);
  });
});
