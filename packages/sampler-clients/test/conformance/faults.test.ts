/**
 * Every fault of the wire notes, driven by a fake of each kind: how three samples end, and how often the request was
 * sent. Siblings go on; nothing with a missing or impossible logprob gets through; nothing that may depend on the
 * outcome is asked again.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  concatIds,
  tokensOf,
  type Failure,
  type SampleRequest,
  type Sequence,
} from "@interlace/core";
import type { SamplerKind } from "../../src/server.ts";
import {
  createFakeLlamacpp,
  createFakeSglang,
  createFakeTgi,
  createFakeTinker,
  createFakeVllm,
  type Fault,
  type FakeOptions,
  type FakeServer,
} from "../../src/testing/index.ts";
import { ask } from "./asked.ts";
import { openFake } from "./fake-subject.ts";
import type { Subject } from "./subject.ts";

setDefaultTimeout(120_000);

const CREATE: Readonly<Record<SamplerKind, (options: FakeOptions) => Promise<FakeServer>>> = {
  vllm: createFakeVllm,
  sglang: createFakeSglang,
  tgi: createFakeTgi,
  llamacpp: createFakeLlamacpp,
  tinker: createFakeTinker,
};
const ALL: readonly SamplerKind[] = ["vllm", "sglang", "tgi", "llamacpp", "tinker"];

type Ends = readonly [string, string, string];
const FINE: Ends = ["ok", "ok", "ok"];
const all = (cause: string): Ends => [cause, cause, cause];
/** TGI is asked for one sample at a time, so a request that goes wrong is one sample. */
const request = (cause: string) => ({ ...every(all(cause)), tgi: [cause, "ok", "ok"] as Ends });
const sample = (cause: string, but: Partial<Record<SamplerKind, Ends | null>> = {}) => ({
  ...every([cause, "ok", "ok"]),
  ...but,
});
function every(ends: Ends): Record<SamplerKind, Ends | null> {
  return { vllm: ends, sglang: ends, tgi: ends, llamacpp: ends, tinker: ends };
}
const NONE = { vllm: null, sglang: null, tgi: null, llamacpp: null, tinker: null };
const only = (kind: SamplerKind, ends: Ends) => ({ ...NONE, [kind]: ends });

type Row = {
  readonly name: string;
  readonly fault: Fault;
  /** null = this kind cannot do it. */
  readonly ends: Record<SamplerKind, Ends | null>;
  /** Requests that were sent beyond the least. */
  readonly again?: number;
};

const page = { contentType: "text/html", body: "<html><h1>Bad gateway</h1></html>" };
const ROWS: readonly Row[] = [
  {
    name: "429 with Retry-After",
    fault: { type: "status", status: 429, headers: { "retry-after": "0" } },
    ends: every(FINE),
    again: 1,
  },
  { name: "408", fault: { type: "status", status: 408 }, ends: every(FINE), again: 1 },
  {
    name: "502 as a page",
    fault: { type: "status", status: 502, ...page },
    ends: every(FINE),
    again: 1,
  },
  { name: "503", fault: { type: "status", status: 503 }, ends: every(FINE), again: 1 },
  { name: "504", fault: { type: "status", status: 504 }, ends: every(FINE), again: 1 },
  {
    name: "reset before headers",
    fault: { type: "reset", when: "before_headers" },
    ends: every(FINE),
    again: 1,
  },
  {
    name: "reset after headers",
    fault: { type: "reset", when: "after_headers" },
    ends: every(FINE),
    again: 1,
  },
  { name: "half a body", fault: { type: "cut" }, ends: every(FINE), again: 1 },
  { name: "a body in pieces", fault: { type: "pieces" }, ends: every(FINE) },
  { name: "a late first byte", fault: { type: "stall", ms: 300 }, ends: every(FINE) },
  {
    name: "500 as text",
    fault: {
      type: "status",
      status: 500,
      body: "Internal Server Error",
      contentType: "text/plain",
    },
    ends: request("server_error"),
  },
  {
    name: "400",
    fault: { type: "status", status: 400, body: '{"error":"no"}' },
    ends: request("refused"),
  },
  { name: "413", fault: { type: "status", status: 413 }, ends: request("refused") },
  { name: "200 with a page", fault: { type: "html" }, ends: request("server_error") },
  {
    name: "a null logprob",
    fault: { type: "logprob", value: null },
    ends: sample("invalid_logprobs"),
  },
  { name: "−9999", fault: { type: "logprob", value: -9999 }, ends: sample("invalid_logprobs") },
  { name: "−3.4e38", fault: { type: "logprob", value: -3.4e38 }, ends: sample("invalid_logprobs") },
  {
    name: "a logit instead of a logprob",
    fault: { type: "logprob", value: 0.3 },
    ends: sample("invalid_logprobs"),
  },
  {
    name: "one logprob too few",
    fault: { type: "logprob_count", by: -1 },
    ends: sample("invalid_logprobs", { tgi: null }),
  },
  {
    name: "one logprob too many",
    fault: { type: "logprob_count", by: 1 },
    ends: sample("invalid_logprobs", { tgi: null }),
  },
  {
    name: "logprobs that were filled with zeros",
    fault: { type: "zero_logprobs" },
    ends: sample("invalid_logprobs", { tgi: FINE }),
  },
  {
    name: "a logprob of another id",
    fault: { type: "entry_id", id: 3 },
    ends: sample("invalid_logprobs", { tgi: null, tinker: null }),
  },
  { name: "id −1", fault: { type: "token_id", id: -1 }, ends: sample("invalid_tokens") },
  {
    name: "an id past the last row",
    fault: { type: "token_id", id: 512 },
    ends: sample("invalid_tokens"),
  },
  {
    name: "one sample too few",
    fault: { type: "sample_count", by: -1 },
    ends: { ...every(["ok", "ok", "incomplete"]), tgi: null, tinker: all("incomplete") },
  },
  {
    name: "one sample too many",
    fault: { type: "sample_count", by: 1 },
    ends: { ...every(all("incomplete")), tgi: null },
  },
  {
    name: "samples in another order",
    fault: { type: "shuffled" },
    ends: { ...every(FINE), tgi: null, tinker: null },
  },
  {
    name: "no word for the end",
    fault: { type: "finish", reason: null },
    ends: sample("incomplete", { tinker: null }),
  },
  {
    name: "an unknown word for the end",
    fault: { type: "finish", reason: "tired" },
    ends: sample("incomplete", { tinker: null }),
  },
  {
    name: "finish_reason error",
    fault: { type: "finish", reason: "error" },
    ends: only("vllm", ["server_error", "ok", "ok"]),
  },
  {
    name: "finish_reason repetition",
    fault: { type: "finish", reason: "repetition" },
    ends: only("vllm", ["incomplete", "ok", "ok"]),
  },
  { name: "another text than the ids'", fault: { type: "text", text: "?" }, ends: every(FINE) },
  {
    name: "a prompt that was truncated",
    fault: { type: "prompt", change: "truncated" },
    ends: { ...request("invalid_tokens"), tinker: null },
  },
  {
    name: "a second BOS",
    fault: { type: "prompt", change: "begins_twice" },
    ends: { ...request("invalid_tokens"), tinker: null },
  },
  {
    name: "NaN happened",
    fault: { type: "nan_happened" },
    ends: only("sglang", ["invalid_tokens", "ok", "ok"]),
  },
  {
    name: "holes in the probabilities",
    fault: { type: "holes" },
    ends: only("llamacpp", ["invalid_logprobs", "ok", "ok"]),
  },
  {
    name: "output that is no UTF-8",
    fault: { type: "invalid_utf8" },
    ends: only("llamacpp", all("server_error")),
  },
  {
    name: "back-pressure",
    fault: { type: "backpressure", times: 1 },
    ends: only("tinker", FINE),
    again: 1,
  },
  {
    name: "a future that takes its time",
    fault: {
      type: "future",
      answers: ["try_again", 408, 400, "paused_capacity", 429, "complete_metadata"],
    },
    ends: only("tinker", FINE),
  },
  {
    name: "a future that is gone",
    fault: { type: "future", answers: [410] },
    ends: only("tinker", FINE),
    again: 1,
  },
  {
    name: "a future that failed",
    fault: { type: "future", answers: ["error_server"] },
    ends: only("tinker", all("server_error")),
  },
  {
    name: "a future that the user spoilt",
    fault: { type: "future", answers: ["error_user"] },
    ends: only("tinker", all("refused")),
  },
  {
    name: "fields of a newer service",
    fault: { type: "proto", form: "unknown_fields" },
    ends: only("tinker", FINE),
  },
  {
    name: "protobuf without logprobs",
    fault: { type: "proto", form: "no_logprobs" },
    ends: only("tinker", all("invalid_logprobs")),
  },
  {
    name: "an unknown reason",
    fault: { type: "proto", form: "unknown_reason" },
    ends: only("tinker", all("incomplete")),
  },
];

const SAMPLING = /generate|completion|asample/;

for (const kind of ALL) {
  describe(`faults of ${kind}`, () => {
    let subject: Subject;
    let fake: FakeServer;
    let next: Fault | null = null;
    const sent = (): number => fake.seen.filter(({ route }) => SAMPLING.test(route)).length;

    beforeAll(async () => {
      fake = await CREATE[kind]({
        faults: ({ route }) => {
          const fault = next;
          if (fault === null || !(fault.type === "drift" ? /tokenize/ : SAMPLING).test(route))
            return null;
          next = null;
          return fault;
        },
      });
      subject = await openFake(fake, { kind, retry: { baseSeconds: 0.001 } }, null);
    });
    afterAll(() => subject?.[Symbol.asyncDispose]());

    let asked = 0;
    async function meet(fault: Fault): Promise<readonly (Sequence | Failure)[]> {
      asked += 1;
      const change: Partial<SampleRequest> = {
        // Its own object, so that no adapter remembers anything of it.
        prompt: tokensOf(concatIds(ask().prompt)),
        samples: 3,
        maxTokens: 12,
        // Cold, so that no turn of the policy ends before twelve tokens.
        temperature: 0.3,
        stopIds: [],
        seed: 10 * asked,
      };
      next = fault;
      const entries = await subject.client.sampler.sample(
        ask(change),
        new AbortController().signal,
      );
      expect(next).toBeNull();
      return entries;
    }
    const shown = (entries: readonly (Sequence | Failure)[]) =>
      entries.map((entry) => (entry.ok ? "ok" : entry.cause));

    for (const { name, fault, ends, again = 0 } of ROWS) {
      const expected = ends[kind];
      if (expected === null) continue;
      test(`${name}: ${expected.join(", ")}`, async () => {
        const before = sent();
        const entries = await meet(fault);
        expect(shown(entries)).toEqual([...expected]);
        expect(sent() - before).toBe((kind === "tgi" ? 3 : 1) + again);
      });
    }

    test.skipIf(kind !== "tgi")(
      "a prompt whose ids do not survive its text is drift, and nothing is sampled",
      async () => {
        const before = sent();
        expect(shown(await meet({ type: "drift" }))).toEqual(["drift", "drift", "drift"]);
        expect(sent()).toBe(before);
      },
    );

    const aborts = kind === "vllm" || kind === "sglang";
    test.skipIf(!aborts)(
      "what somebody else aborts at the server is recorded as such",
      async () => {
        for (const entry of await meet({ type: "abort", after: 3 })) {
          expect(entry).toMatchObject({ ok: true, finish: "aborted" });
        }
      },
    );

    test.skipIf(!aborts)("a version that changes under a sample shows as two spans", async () => {
      const entries = await meet({ type: "new_weights", after: 4, version: "v2", location: null });
      for (const entry of entries) {
        if (!entry.ok) throw new Error(entry.detail);
        expect(entry.versions.map(({ version }) => String(version))).toEqual(["default", "v2"]);
        expect(entry.versions.at(-1)!.end).toBe(entry.ids.length);
      }
      // Back to the name that the next test expects.
      await meet({ type: "new_weights", after: 1, version: "default", location: null });
    });
  });
}
