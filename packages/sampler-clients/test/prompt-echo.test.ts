/** Leaving proven echoes out changes no sample: the plain parse of every recorded answer is the oracle. */
import { describe, expect, test } from "bun:test";
import { tokensOf, type SampleRequest } from "@interlace/core";
import fc from "fast-check";
import { parseGenerate as parseSglang } from "../src/adapters/sglang-wire.ts";
import { parseCompletions, parseGenerate } from "../src/adapters/vllm-wire.ts";
import { checkAnswer } from "../src/check-sequence.ts";
import { cutLists } from "../src/cut-lists.ts";
import { EXCHANGES, EXPECTED } from "./recorded/recordings.ts";
import { request } from "./support/requests.ts";

function takeProvenEchoes(json: string, sent: readonly number[]): string {
  const prompt = tokensOf(Int32Array.from(sent));
  return cutLists(new TextEncoder().encode(json), [], prompt).rest;
}

const PARSERS = {
  "vllm-generate": (body: unknown) => parseGenerate(body),
  "vllm-completions": (body: unknown) => parseCompletions(body),
  sglang: parseSglang,
} as const;

const echoes = EXPECTED.filter((expected, index) => {
  if (expected.reading !== "samples" || !(expected.asked.wire in PARSERS)) return false;
  const json = JSON.stringify(EXCHANGES[index]!.response.body);
  return takeProvenEchoes(json, expected.asked.prompt) !== json;
});

describe("recorded", () => {
  EXPECTED.forEach((expected, index) => {
    if (expected.reading !== "samples" || !(expected.asked.wire in PARSERS)) return;
    test(expected.file, () => {
      const { asked } = expected;
      const body = EXCHANGES[index]!.response.body;
      const json = JSON.stringify(body);
      const short = takeProvenEchoes(json, asked.prompt);
      const parse = PARSERS[asked.wire as keyof typeof PARSERS];
      const read = (text: string): unknown => {
        const raws = parse(JSON.parse(text), asked.rids ?? []);
        return typeof raws === "string" ? raws : checkAnswer(raws, requestOf(asked), BOUNDS);
      };
      expect(read(short)).toEqual(read(json));
    });
  });
  test("38 of them have an echo", () => {
    expect(echoes).toHaveLength(38);
  });
});

const BOUNDS = {
  vocabSize: 200_000,
  logprobKind: "unknown",
  stops: "server",
  before: null,
  after: null,
} as const;

function requestOf(asked: {
  readonly prompt: readonly number[];
  readonly samples: number;
  readonly max: number;
  readonly stop: readonly number[];
}): SampleRequest {
  const prompt = tokensOf(Int32Array.from(asked.prompt));
  return request({ prompt, samples: asked.samples, maxTokens: asked.max, stopIds: asked.stop });
}

test("an echo of anything else stays where it is", () => {
  for (const echo of ["1,2", "1,2,3,4", "1,2,4", "11,2,3", "1, 2, 3", ""]) {
    const json = `{"prompt_token_ids":[${echo}]}`;
    expect(takeProvenEchoes(json, [1, 2, 3])).toBe(json);
  }
});

test("the end of a longer name is no echo, nor is a text that looks like one", () => {
  for (const value of [{ 'x"prompt_token_ids': [1] }, { x: '"prompt_token_ids":[1]' }]) {
    const json = JSON.stringify(value);
    expect(takeProvenEchoes(json, [1])).toBe(json);
  }
});

test("whatever stands around them, only proven echoes become null", () => {
  const ids = fc.array(fc.integer({ min: 0, max: 99 }), { minLength: 1, maxLength: 4 });
  const item = fc.record({ text: fc.string(), prompt_token_ids: ids, next: fc.jsonValue() });
  fc.assert(
    fc.property(fc.array(item, { maxLength: 4 }), ids, (items, sent) => {
      const short = takeProvenEchoes(JSON.stringify(items), sent);
      const expected = items.map((one) =>
        one.prompt_token_ids.join(",") === sent.join(",")
          ? { ...one, prompt_token_ids: null }
          : one,
      );
      expect(JSON.parse(short)).toEqual(JSON.parse(JSON.stringify(expected)));
    }),
    { numRuns: 500 },
  );
});
