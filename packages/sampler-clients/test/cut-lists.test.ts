/**
 * The fast way into an answer against the plain parse, its oracle, for vLLM's two endpoints and SGLang: both say the
 * same, word for word and bit for bit, and what servers really write goes the fast way.
 */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { cutLists } from "../src/cut-lists.ts";
import {
  ASKED,
  cutsOf,
  expectSame,
  fast,
  LISTS,
  NAMES,
  plainly,
  PROMPT,
  promptOf,
  RECORDED,
} from "./support/both-ways.ts";
import { WIRES, writeFloat, type WrittenSample } from "./support/wire-answers.ts";

describe("recorded", () => {
  for (const name of NAMES) {
    const answers = RECORDED.filter((one) => one.name === name);
    test(`all answers of ${name}`, () => {
      for (const { asked, reply } of answers) {
        expect(fast(WIRES[name], reply, asked)).toEqual(plainly(WIRES[name], reply, asked));
      }
    });
  }
  test("of most of them ids and logprobs are cut", () => {
    const counts = NAMES.map((name) => {
      const answers = RECORDED.filter((one) => one.name === name);
      const cut = answers.filter(({ reply, asked }) => {
        const { rows } = cutLists(reply.bytes, WIRES[name].lists, promptOf(asked));
        const withIds = rows.filter(({ ids }) => ids !== null).length;
        const withLogprobs = rows.filter(({ logprobs }) => logprobs !== null).length;
        return Math.min(withIds, withLogprobs) >= asked.samples;
      });
      return [name, answers.length, cut.length];
    });
    // Not those that were asked for more logprobs, for none or for a text.
    expect(counts).toEqual([
      ["vllm-generate", 51, 44],
      ["vllm-completions", 14, 9],
      ["sglang", 26, 25],
    ]);
  });
});

const text = fc.string({ unit: "grapheme", maxLength: 20 });
/** `-10^power`: as float32 and as Python writes it. */
const power = fc.double({ noNaN: true, min: -9, max: 2 });
const logprob = fc.oneof(
  { weight: 12, arbitrary: power.map((x) => writeFloat(-Math.fround(10 ** x))) },
  { weight: 1, arbitrary: fc.constantFrom("0.0", "-0.0", "-1.1920928955078125e-7", "-1.0") },
);
const odd = fc.constantFrom(
  ...'null -9999.0 0.3 1e-05 -1 -9998.99999 -1e-60 "-0.5" true [] {}'.split(" "),
);
const id = fc.oneof(
  { weight: 20, arbitrary: fc.nat(99_999).map(String) },
  { weight: 1, arbitrary: fc.constantFrom("-1", "100000", "12345678901", "1.5", "null", "1.0") },
);

function sampleOf(anyLogprob: fc.Arbitrary<string>, anyId: fc.Arbitrary<string>) {
  return fc
    .record({ tokens: fc.array(fc.tuple(anyId, anyLogprob), { maxLength: 12 }), text })
    .map(({ tokens, text: said }): WrittenSample => ({
      ids: tokens.map(([one]) => one),
      logprobs: tokens.map(([, one]) => one),
      text: said,
    }));
}

const good = sampleOf(logprob, fc.nat(99_999).map(String));
const any = sampleOf(
  fc.oneof({ weight: 30, arbitrary: logprob }, { weight: 1, arbitrary: odd }),
  id,
);

describe.each(NAMES)("%s", (name) => {
  const { write } = WIRES[name];
  const prompt = PROMPT.join(",");

  test("every list of a good answer is cut, and it reads the same both ways", () => {
    fc.assert(
      fc.property(fc.array(good, { minLength: 1, maxLength: 3 }), (samples) => {
        const answer = write(samples, prompt);
        expect(cutsOf(name, answer)).toBe(samples.length * LISTS[name]);
        expectSame(name, answer, { ...ASKED, samples: samples.length });
      }),
      { numRuns: 500 },
    );
  });

  test("what no check takes is told in the same words", () => {
    fc.assert(
      fc.property(fc.array(any, { minLength: 1, maxLength: 3 }), (samples) => {
        expectSame(name, write(samples, prompt), { ...ASKED, samples: samples.length });
      }),
      { numRuns: 1_000 },
    );
  });

  test("a long answer reads the same, and so does a short one behind it", () => {
    const ids = Array.from({ length: 70_000 }, (_, i) => String((i * 31) % 99_999));
    const logprobs = ids.map((_, i) => writeFloat(-Math.fround(((i * 17) % 997) / 313)));
    const long = write([{ ids, logprobs, text: "" }], prompt);
    expectSame(name, long, { ...ASKED, samples: 1 });
    expect(cutsOf(name, long)).toBe(LISTS[name]);
    const short: WrittenSample = { ids: ["5"], logprobs: ["-0.5"], text: "a" };
    expectSame(name, write([short], prompt), { ...ASKED, samples: 1 });
  });
});

test("a list longer than all before it is kept whole", () => {
  const ids = Array.from({ length: 150_000 }, (_, i) => i);
  const entries = ids.map((one) => `[-${one % 900}.5,${one},null]`);
  const answer = new TextEncoder().encode(`{"output_token_logprobs":[${entries.join(",")}]}`);
  const { rows, rest } = cutLists(answer, WIRES.sglang.lists, promptOf(ASKED));
  expect(rest).toBe('{"output_token_logprobs":{"cut":0}}');
  expect(rows).toEqual([
    { ids: Int32Array.from(ids), logprobs: Float32Array.from(ids, (one) => -(one % 900) - 0.5) },
  ]);
});
