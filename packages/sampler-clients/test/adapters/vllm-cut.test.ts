/** The fast way into a vLLM answer against the plain parse, its oracle: equal wherever it answers at all. */
import { describe, expect, test } from "bun:test";
import { tokensOf, type Failure, type Sequence } from "@interlace/core";
import fc from "fast-check";
import { cutAnswer } from "../../src/adapters/vllm-cut.ts";
import { parseGenerate, readGenerate } from "../../src/adapters/vllm-wire.ts";
import { checkAnswer } from "../../src/check-sequence.ts";
import type { Reply } from "../../src/http.ts";
import type { RawSample } from "../../src/raw-sample.ts";
import { EXCHANGES, replyOf } from "../recorded/recordings.ts";
import { request } from "../support/requests.ts";

function replyWith(text: string): Reply {
  const bytes = new TextEncoder().encode(text);
  return {
    ok: true,
    status: 200,
    contentType: "application/json",
    afterMs: null,
    header: () => null,
    bytes,
  };
}

function check(
  raws: readonly RawSample[] | string | object,
  samples: number,
): readonly (Sequence | Failure)[] {
  if (!Array.isArray(raws)) throw new Error(JSON.stringify(raws));
  const asked = request({
    samples,
    maxTokens: 2_000,
    stopIds: [],
    prompt: tokensOf(Int32Array.of(1)),
  });
  const unechoed = (raws as RawSample[]).map((raw) =>
    raw.ok ? { ...raw, prompt: { ids: null, length: null } } : raw,
  );
  const bounds = {
    vocabSize: 100_000,
    logprobKind: "raw",
    stops: "server",
    before: null,
    after: null,
  } as const;
  return checkAnswer(unechoed, asked, bounds);
}

describe("recorded", () => {
  const answers = EXCHANGES.filter(
    ({ request: { path }, response: { status, body } }) =>
      path === "/inference/v1/generate" && status === 200 && body !== undefined,
  );
  for (const exchange of answers) {
    test(exchange.file, () => {
      const reply = replyOf(exchange);
      const body = exchange.response.body as { choices: unknown[] };
      const plain = check(parseGenerate(body), body.choices.length);
      expect(check(readGenerate(reply, "x", "1"), body.choices.length)).toEqual([...plain]);
    });
  }
  test("most of them go the fast way", () => {
    const fast = answers.filter((exchange) => cutAnswer(replyOf(exchange).bytes) !== null);
    expect(answers.length).toBe(51);
    // Not those with more than one logprob per token, with none, or in text mode.
    expect(fast.length).toBe(43);
  });
});

type Entry = { readonly id: number; readonly logprob: string; readonly rank: number };

function answer(choices: readonly (readonly Entry[])[]): string {
  const texts = choices.map((entries, index) => {
    const content = entries.map(({ id, logprob, rank }) => {
      const one = `"token_id":${id},"logprob":${logprob},"rank":${rank}`;
      return `{${one},"top_logprobs":[{${one}}]}`;
    });
    const ids = entries.map(({ id }) => id).join(",");
    return `{"index":${index},"finish_reason":"length","token_ids":[${ids}],"weight_versions":[{"version":"é","start":0,"end":${entries.length}}],"logprobs":{"content":[${content.join(",")}]}}`;
  });
  return `{"request_id":"generate-tokens-x","usage":{"prompt_tokens":1},"choices":[${texts.join(",")}]}`;
}

const float32 = fc.float({ min: -50, max: 0, noNaN: true, noDefaultInfinity: true });
/** As Python writes a float. */
const written = float32.map((x) =>
  Number.isInteger(x) ? `${x}.0`.replace("-0.0", "-0.0") : String(x),
);
const entry = fc.record({
  id: fc.integer({ min: 0, max: 99_999 }),
  logprob: fc.oneof(
    { weight: 20, arbitrary: written },
    fc.constantFrom("null", "NaN", "-9999.0", "-1", "1.5e-05", "-1e-7", "0.30000001192092896"),
  ),
  rank: fc.integer({ min: 1, max: 100_000 }),
});

test("any answer of this shape reads the same both ways, bit for bit", () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(entry, { maxLength: 12 }), { minLength: 1, maxLength: 4 }),
      (choices) => {
        const text = answer(choices);
        if (text.includes("NaN")) {
          expect(readGenerate(replyWith(text), "x", "1")).toMatchObject({
            ok: false,
            cause: "server_error",
          });
          return;
        }
        const plain = check(parseGenerate(JSON.parse(text)), choices.length);
        expect(check(readGenerate(replyWith(text), "x", "1"), choices.length)).toEqual([...plain]);
      },
    ),
    { numRuns: 500 },
  );
});

test("float32 values come through exactly", () => {
  fc.assert(
    fc.property(fc.array(float32, { minLength: 1, maxLength: 40 }), (values) => {
      const entries = values.map((x) => ({
        id: 5,
        logprob: Number.isInteger(x) ? `${x}.0` : String(x),
        rank: 1,
      }));
      const cut = cutAnswer(new TextEncoder().encode(answer([entries])));
      if (cut !== null) expect([...cut.contents[0]!.logprobs]).toEqual(values.map((x) => x + 0));
    }),
    { numRuns: 1_000 },
  );
});

test("a text that is cut anywhere is never read as a whole answer", () => {
  const text = answer([
    [
      { id: 5, logprob: "-0.5", rank: 1 },
      { id: 6, logprob: "-1.25", rank: 2 },
    ],
  ]);
  for (let length = 0; length < text.length; length += 1) {
    expect(readGenerate(replyWith(text.slice(0, length)), "x", "1")).toMatchObject({ ok: false });
  }
});

test("other shapes take the plain way", () => {
  const spaced = answer([[{ id: 5, logprob: "-0.5", rank: 1 }]]).replace(
    '"logprob":',
    '"logprob": ',
  );
  expect(cutAnswer(new TextEncoder().encode(spaced))).toBeNull();
  const older =
    '{"choices":[{"index":0,"logprobs":{"content":[{"token":"token_id:5","logprob":-0.5,"bytes":null}]},"finish_reason":"stop","token_ids":[5]}],"usage":{"prompt_tokens":1}}';
  expect(cutAnswer(new TextEncoder().encode(older))).toBeNull();
  expect(check(readGenerate(replyWith(older), "x", "1"), 1)).toMatchObject([
    { ok: true, finish: "stop" },
  ]);
});
