import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { filterByLength, mixItems } from "../../src/index.ts";

describe("mixtures", () => {
  test("two to one, each part in its own order, the shorter one again from its start", () => {
    const parts = [
      { items: ["a1", "a2", "a3", "a4"], weight: 2 },
      { items: ["b1"], weight: 1 },
    ];
    expect(mixItems(parts)).toEqual(["a1", "b1", "a2", "a3", "b1", "a4"]);
  });

  test("one part is itself, whatever its weight", () => {
    expect(mixItems([{ items: [3, 1, 2], weight: 0.1 }])).toEqual([3, 1, 2]);
  });

  test("equal weights take turns", () => {
    const parts = ["a", "b", "c"].map((name) => ({ items: [name], weight: 1 / 3 }));
    expect(mixItems(parts).join("")).toBe("abc");
  });

  test("every beginning has the shares of the weights, off by less than the number of parts", () =>
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            size: fc.integer({ min: 1, max: 30 }),
            weight: fc.integer({ min: 1, max: 9 }),
          }),
          {
            minLength: 1,
            maxLength: 5,
          },
        ),
        (sizes) => {
          const parts = sizes.map(({ size, weight }, i) => ({
            items: Array.from({ length: size }, (_, j) => `${i}/${j}`),
            weight,
          }));
          const total = sizes.reduce((sum, { weight }) => sum + weight, 0);
          const mixed = mixItems(parts);
          const seen = sizes.map(() => 0);
          for (const [at, item] of mixed.entries()) {
            const part = Number(item.split("/")[0]);
            expect(item).toBe(`${part}/${(seen[part] ?? 0) % (sizes[part]?.size ?? 1)}`);
            seen[part] = (seen[part] ?? 0) + 1;
            for (const [i, { weight }] of sizes.entries()) {
              const share = (weight / total) * (at + 1);
              expect(Math.abs((seen[i] ?? 0) - share)).toBeLessThan(sizes.length);
            }
          }
          // The part that lasts longest is met whole.
          expect(sizes.some(({ size }, i) => (seen[i] ?? 0) >= size)).toBe(true);
        },
      ),
    ));

  test("weights that are none, and parts without items, are refused", () => {
    expect(() => mixItems([{ items: [], weight: 1 }])).toThrow("Expected items in part 1");
    expect(() => mixItems([{ items: [1], weight: 0 }])).toThrow("a weight over 0 of part 1, got 0");
    const lopsided = [
      { items: Array.from({ length: 20_000 }, (_, i) => i), weight: 1e-6 },
      { items: [1], weight: 1 },
    ];
    expect(() => mixItems(lopsided)).toThrow("far too small for its part");
  });
});

test("lengths are code points; what is left out is counted by reason", () => {
  const problem = (question: string, answer: string) =>
    ({ id: "", question, answer, dataSource: "" }) as const;
  const problems = [
    problem("𝒙𝒙", "1"),
    problem("abc", "12"),
    problem("abcd", "1"),
    problem("a", "1"),
  ];
  const bounds = { minQuestion: 2, maxQuestion: 3, maxAnswer: 1 };
  expect(filterByLength(problems, bounds)).toEqual({
    problems: [problem("𝒙𝒙", "1")],
    tooShort: 1,
    tooLong: 1,
    answerTooLong: 1,
  });
  const none = { minQuestion: 0, maxQuestion: null, maxAnswer: null };
  expect(filterByLength(problems, none).problems).toHaveLength(4);
});
