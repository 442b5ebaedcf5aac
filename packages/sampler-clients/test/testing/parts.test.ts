import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { explainRow } from "../../src/testing/explain-row.ts";
import { latencyOf } from "../../src/testing/latency.ts";
import { endsInside, isUtf8, tokenBytes } from "../../src/testing/token-bytes.ts";
import { wireJson } from "../../src/testing/wire-json.ts";
import { shapeDifferences } from "./shape.ts";

describe("bytes of vocabulary entries", () => {
  test("byte-level characters stand for bytes; an added token for its own text", () => {
    // GPT-2 writes a space as U+0120, newline as U+010A, 0xC3 as Ã, 0xA9 as ©.
    expect(tokenBytes("\u0120a\u010a")).toEqual([32, 97, 10]);
    expect(tokenBytes("\u00c3\u00a9")).toEqual([0xc3, 0xa9]);
    expect(tokenBytes("\u4f60")).toEqual([0xe4, 0xbd, 0xa0]);
    expect(tokenBytes(null)).toEqual([]);
  });

  test("property: every cut of a text ends inside a character exactly where UTF-8 says so", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 8 }), fc.nat(40), (text, at) => {
        const bytes = [...new TextEncoder().encode(text)].slice(0, at);
        expect(endsInside(bytes)).toBe(!isUtf8(bytes));
      }),
    );
  });
});

describe("JSON with what is no JSON", () => {
  test("NaN and infinities are written bare, also beside texts that look like them", () => {
    const value = { a: Number.NaN, b: [Infinity, -Infinity, 1.5], c: "NaN", d: null };
    expect(wireJson(value)).toBe('{"a":NaN,"b":[Infinity,-Infinity,1.5],"c":"NaN","d":null}');
  });
});

describe("latency", () => {
  const latency = { type: "log_normal", medianMs: 40, sigma: 1, seed: 3 } as const;
  const drawn = Array.from({ length: 4001 }, (_, place) => latencyOf(latency, place));

  test("the same place waits as long in every run, and sigma 0 is the median", () => {
    expect(Array.from({ length: 50 }, (_, place) => latencyOf(latency, place))).toEqual(
      drawn.slice(0, 50),
    );
    expect(latencyOf({ ...latency, seed: 4 }, 0)).not.toBe(drawn[0]!);
    expect(latencyOf({ ...latency, sigma: 0 }, 9)).toBe(40);
    expect(latencyOf({ type: "none" }, 9)).toBe(0);
  });

  test("half are under the median, and about 1 in 6 above e times it", () => {
    const sorted = drawn.toSorted((a, b) => a - b);
    expect(sorted[2000]! / 40).toBeGreaterThan(0.93);
    expect(sorted[2000]! / 40).toBeLessThan(1.07);
    const above = drawn.filter((ms) => ms > 40 * Math.E).length / drawn.length;
    expect(Math.abs(above - 0.1587)).toBeLessThan(0.02);
  });
});

describe("what is told beside a token", () => {
  const row = Float32Array.from([0.5, 0.25, 0.125, 0.125], Math.log);
  const sampling = { temperature: 0.5, topP: 0.9, topK: 2 };

  test("rank counts likelier ids; candidates come by likelihood, under the server's kind", () => {
    expect(explainRow(row, 2, 0, sampling, "raw")).toEqual({ rank: 3, candidates: [] });
    const chances = (kind: "raw" | "temperature_scaled" | "processed") =>
      explainRow(row, 0, 3, sampling, kind).candidates.map(({ logprob }) => Math.exp(logprob));
    const near = (values: number[], expected: number[]) =>
      values.forEach((value, i) => expect(value).toBeCloseTo(expected[i]!, 5));
    near(chances("raw"), [0.5, 0.25, 0.125]);
    near(chances("temperature_scaled"), [16 / 22, 4 / 22, 1 / 22]);
    // top_k keeps two, of which the first alone has 0.8 < 0.9.
    near(chances("processed"), [0.8, 0.2, 0]);
  });
});

describe("comparing shapes", () => {
  test("sees keys that are missing, too many, in another order, and other kinds", () => {
    expect(shapeDifferences({ a: 1, b: null }, { a: 2, b: "x" })).toEqual([]);
    expect(shapeDifferences({ a: 1 }, { a: "1" })).toEqual([
      "body.a: recorded number, answered string",
    ]);
    expect(shapeDifferences({ a: [{ b: 1 }] }, { a: [{ c: 1 }] })).toEqual([
      "body.a[0]: recorded keys b, answered c",
    ]);
    expect(shapeDifferences({ a: 1, b: 1 }, { b: 1, a: 1 })).toHaveLength(1);
  });
});
