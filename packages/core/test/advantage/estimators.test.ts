import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import {
  createEstimator,
  ESTIMATOR_NAMES,
  type EstimatorName,
  type Rewards,
} from "../../src/index.ts";
import { testPython } from "../support/test-python.ts";

const one = (name: EstimatorName, rewards: Rewards, k = 4) =>
  createEstimator(name, { k })([rewards])[0];

describe("by hand", () => {
  test("grpo_std: 1, −1 has mean 0 and std √2", () => {
    expect(one("grpo_std", [1, -1])?.[0]).toBeCloseTo(1 / (Math.SQRT2 + 1e-6), 12);
  });

  test("rloo: each against the mean of the others", () => {
    // Others of the first: (−1 −1 +1)/3 = −1/3.
    expect(one("rloo", [1, -1, -1, 1])).toEqual([4 / 3, -4 / 3, -4 / 3, 4 / 3]);
  });

  test("max_rl: one success in four weighs 3, each failure −1", () => {
    expect(one("max_rl", [1, -1, -1, -1])).toEqual([3, -1, -1, -1]);
  });

  test("pass_at_k with k = 1 is success centred and scaled by its deviation", () => {
    // Rate 1/4: deviation √(3/16).
    const scale = Math.sqrt(3 / 16);
    const [success, failure] = one("pass_at_k", [1, -1, -1, -1], 1) ?? [];
    expect(success).toBeCloseTo(0.75 / scale, 12);
    expect(failure).toBeCloseTo(-0.25 / scale, 12);
  });

  test("pass_at_k gives 0 where every subset of k holds a success", () => {
    expect(one("pass_at_k", [1, 1, 1, -1], 2)).toEqual([0, 0, 0, 0]);
  });

  test("reinforce_plus_plus divides by the spread of the whole batch", () => {
    // Centred: 1 −1 | 0 0: squares 2 over 3 degrees of freedom.
    const [signal, flat] = createEstimator("reinforce_plus_plus")([
      [1, -1],
      [1, 1],
    ]);
    expect(signal?.[0]).toBeCloseTo(1 / (Math.sqrt(2 / 3) + 1e-8), 12);
    expect(flat).toEqual([0, 0]);
  });
});

const rewards = fc.array(fc.constantFrom<(number | null)[]>(1, -1, -0.6, null), {
  minLength: 1,
  maxLength: 8,
});
const batch = fc.array(rewards, { minLength: 1, maxLength: 4 });

describe.each([...ESTIMATOR_NAMES])("%s", (name) => {
  test("a group without a signal gets exactly 0, an unscored member null", () => {
    fc.assert(
      fc.property(batch, fc.constantFrom(1, -1, 0.1), (groups, flat) => {
        const flatGroup = [flat, null, flat, flat];
        const result = createEstimator(name)([...groups, flatGroup]);
        expect(result.at(-1)).toEqual([0, null, 0, 0]);
        for (const [g, group] of groups.entries()) {
          for (const [i, reward] of group.entries()) {
            const advantage = result[g]?.[i];
            expect(advantage === null).toBe(reward === null);
            if (advantage !== null) expect(Number.isFinite(advantage)).toBe(true);
          }
        }
      }),
    );
  });
});

test("every estimator agrees with numpy on random batches", async () => {
  const cases = fc.sample(
    fc.record({
      name: fc.constantFrom(...ESTIMATOR_NAMES),
      groups: batch,
      k: fc.integer({ min: 1, max: 5 }),
    }),
    { numRuns: 500, seed: 7 },
  );
  const input = cases.map((each) => JSON.stringify(each)).join("\n");
  const lines = (await testPython([join(import.meta.dir, "oracle.py")], input)).split("\n");
  for (const [i, { name, groups, k }] of cases.entries()) {
    const wanted = JSON.parse(lines[i] ?? "null") as (number | null)[][];
    const seen = createEstimator(name, { k })(groups);
    for (const [g, group] of wanted.entries()) {
      for (const [m, value] of group.entries()) {
        const ours = seen[g]?.[m];
        if (value === null) expect(ours).toBeNull();
        else
          expect(Math.abs((ours ?? NaN) - value)).toBeLessThan(1e-9 * Math.max(1, Math.abs(value)));
      }
    }
  }
});

test("a k that is no positive integer is refused", () => {
  expect(() => one("pass_at_k", [1, -1], 0)).toThrow("Expected k to be a positive integer, got 0");
});
