import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { groupCentred, isDegenerate } from "../../src/index.ts";

test("a group of 8 with 2 correct: +1.5 and −0.5", () => {
  expect(groupCentred([1, -1, -1, 1, -1, -1, -1, -1])).toEqual([
    1.5, -0.5, -0.5, 1.5, -0.5, -0.5, -0.5, -0.5,
  ]);
});

test("with ±1 rewards, group size G and k correct: 2(G−k)/G and −2k/G", () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 64 }), fc.nat(64), (size, draw) => {
      const correct = 1 + (draw % (size - 1));
      const rewards = Array.from({ length: size }, (_, i) => (i < correct ? 1 : -1));
      const advantages = groupCentred(rewards);
      expect(advantages[0]).toBeCloseTo((2 * (size - correct)) / size, 12);
      expect(advantages[size - 1]).toBeCloseTo((-2 * correct) / size, 12);
    }),
  );
});

test("an unscored member gets none and takes no part in the mean", () => {
  // Counted as −1 it would move the mean to −1/3.
  expect(groupCentred([1, null, -1])).toEqual([1, null, -1]);
  expect(groupCentred([1, null, 1, -1, -1])).toEqual([1, null, 1, -1, -1]);
});

describe("no signal is exactly 0, not 1e-17", () => {
  // The float64 mean of three 0.1 is 0.10000000000000002.
  test.each([[[0.1, 0.1, 0.1]], [[-1, -1]], [[1, null, 1]], [[1]], [[null, -0.7]]])(
    "%j",
    (rewards) => {
      expect(isDegenerate(rewards)).toBe(true);
      expect(groupCentred(rewards)).toEqual(rewards.map((each) => (each === null ? null : 0)));
    },
  );

  test("nobody scored: nothing to give", () => {
    expect(isDegenerate([null, null])).toBe(true);
    expect(groupCentred([null, null])).toEqual([null, null]);
    expect(groupCentred([])).toEqual([]);
  });

  test("different rewards are a signal, however close", () => {
    expect(isDegenerate([1, 1 - 2 ** -53])).toBe(false);
  });
});

test("advantages of a group sum to 0", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(1, -1, -0.6, null), { minLength: 1 }), (rewards) => {
      const sum = groupCentred(rewards).reduce<number>((total, each) => total + (each ?? 0), 0);
      expect(Math.abs(sum)).toBeLessThan(1e-9);
    }),
  );
});
