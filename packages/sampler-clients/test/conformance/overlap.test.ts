/** Weights that change under running samples (`overlap`): both versions are named, and each token is of its own weights. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { concatIds, weightVersion, type LogprobKind } from "@interlace/core";
import { createFakeSglang, createFakeVllm, type FakeServer } from "../../src/testing/index.ts";
import { ask, sampled } from "./asked.ts";
import { openFake } from "./fake-subject.ts";
import { openOracle } from "./oracle.ts";

setDefaultTimeout(120_000);
const NEVER = new AbortController().signal;

const CASES: readonly (readonly ["vllm" | "sglang", () => Promise<FakeServer>, LogprobKind])[] = [
  ["vllm", () => createFakeVllm(), "raw"],
  ["sglang", () => createFakeSglang(), "temperature_scaled"],
];

for (const [kind, create, logprobKind] of CASES) {
  test(`${kind}: a sample that straddles an update carries both versions, right to the token`, async () => {
    const fake = await create();
    await using subject = await openFake(fake, { kind, updates: "overlap" }, null);
    const { first, other } = subject.weights!;
    const request = ask({ samples: 3, maxTokens: 400, stopIds: [], temperature: 0.8 });
    const sampling = subject.client.sampler.sample(request, NEVER);
    await subject.untilBusy();
    await subject.client.feed!.announce(other.version, other.location, NEVER);
    const straddling = sampled(await sampling).filter(({ versions }) => versions.length > 1);
    expect(straddling.length).toBeGreaterThan(0);
    const [before, after] = await Promise.all([openOracle(first.folder), openOracle(other.folder)]);
    const prompt = concatIds(request.prompt);
    for (const { ids, logprobs, versions } of straddling) {
      expect(versions.map(({ version }) => version)).toEqual([
        weightVersion("default"),
        other.version,
      ]);
      const border = versions[0]!.end;
      const own = before.explain(prompt, ids, request)[logprobKind as "raw"];
      const others = after.explain(prompt, ids, request)[logprobKind as "raw"];
      const off = logprobs.map((p, at) => Math.abs(p - (at < border ? own : others)[at]!));
      expect(Math.max(...off)).toBeLessThanOrEqual(1e-5);
      // The two sets of weights really differ.
      expect(Math.max(...own.map((p, at) => Math.abs(p - others[at]!)))).toBeGreaterThan(0.01);
    }
  });
}
