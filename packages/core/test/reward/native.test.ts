/**
 * What the native judge may decide is proven here against recorded verdicts of Math-Verify 0.9.0.
 * A wider rule needs more recorded verdicts first: a contradiction is a wrong reward.
 */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { compareNatively } from "../../src/index.ts";
import { readVector } from "../support/read-vector.ts";

type Row = {
  readonly id: string;
  readonly input: { readonly reference: string; readonly prediction: string };
  readonly expected: { readonly equal: boolean };
};

test("no verdict contradicts Math-Verify on the recorded pairs, and a quarter of them is decided", async () => {
  const rows = await readVector<Row>("answers_equivalent.jsonl");
  const verdicts = rows.map(({ input }) => compareNatively(input.reference, input.prediction));
  const contradictions = rows.filter((row, i) => {
    return verdicts[i] !== "unsure" && (verdicts[i] === "equal") !== row.expected.equal;
  });
  expect(contradictions.map(({ id }) => id)).toEqual([]);

  const count = (verdict: string) => verdicts.filter((each) => each === verdict).length;
  const shares = { equal: count("equal"), different: count("different"), unsure: count("unsure") };
  console.log(`native verdicts on ${rows.length} recorded pairs: ${JSON.stringify(shares)}`);
  expect(shares).toEqual({ equal: 875, different: 856, unsure: 5003 });
});

describe("plain numbers are decided exactly", () => {
  test.each([
    ["1234", "1,234"],
    ["-0", "0"],
    ["025", "25"],
    ["0.5", "1/2"],
    ["0.50", "\\dfrac{1}{2}"],
    ["-\\frac{1}{2}", "\\tfrac{-2}{4}"],
    ["\\frac{6}{3}", "2"],
    ["1,234.5", "1234.5"],
    ["10/4", "5/2"],
    [" 7\n", "\u00a07\u001f"],
    ["9".repeat(3999), "9".repeat(3999)],
  ])("%p equals %p", (reference, prediction) => {
    expect(compareNatively(reference, prediction)).toBe("equal");
    expect(compareNatively(prediction, reference)).toBe("equal");
  });

  test.each([
    ["1", "2"],
    ["1", "-1"],
    ["\\frac{1}{3}", "0.333"],
    ["1000000", "1000001"],
    // 1/10^9 is not 0: without a decimal nothing is rounded.
    ["1/1000000000", "0"],
  ])("%p differs from %p", (reference, prediction) => {
    expect(compareNatively(reference, prediction)).toBe("different");
    expect(compareNatively(prediction, reference)).toBe("different");
  });
});

describe("everything that Math-Verify reads in its own way is unsure", () => {
  test.each([
    ["1/3", "0.333333"],
    ["1", "1.000001"],
    // Past 15 digits Math-Verify tells 1.60 from 1.6.
    ["2637280372515254.6", "2637280372515254.60"],
    ["x", "x"],
    ["1/0", "1/0"],
    ["5", "+5"],
    ["5", "5."],
    ["0.5", ".5"],
    ["5", "5\\%"],
    ["131250", "131 250"],
    ["1,234", "12,34"],
    ["1.5/3", "0.5"],
    ["{2,4}", "(2,4)"],
    ["7", "\uff17"],
    ["7", "\ufeff7"],
    ["\\frac12", "1/2"],
    ["", ""],
    ["9".repeat(4001), "9".repeat(4001)],
  ])("%p and %p", (reference, prediction) => {
    expect(compareNatively(reference, prediction)).toBe("unsure");
  });
});

test("a verdict never depends on the side, and no text makes it throw", () => {
  const number = fc.oneof(
    fc.bigInt().map(String),
    fc.tuple(fc.integer(), fc.nat()).map(([a, b]) => `${a}.${b}`),
    fc.tuple(fc.integer(), fc.nat()).map(([a, b]) => `\\frac{${a}}{${b}}`),
    fc.string({ unit: "binary" }),
    fc.string({ unit: fc.constantFrom(..."0123456789.,/-\\{}frac ") }),
  );
  fc.assert(
    fc.property(number, number, (a, b) => {
      expect(compareNatively(a, b)).toBe(compareNatively(b, a));
    }),
  );
});
