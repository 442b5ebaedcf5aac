import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { packMicroBatches, scaleAdvantages } from "../../src/index.ts";

type Row = {
  readonly id: string;
  readonly input: {
    readonly lengths: readonly number[];
    readonly max_items: number;
    readonly max_padded_tokens: number;
    readonly total_samples: number;
    readonly advantages: readonly number[];
  };
  readonly expected:
    | { readonly refused: true }
    | {
        readonly refused?: never;
        readonly micro_batches: number[][];
        readonly padded_tokens: number[];
        readonly weights_float32: number[];
        readonly scaled_advantages_float32: number[][];
      };
};

const path = new URL("../../../../vectors/packing.jsonl", import.meta.url);
const rows = (await Bun.file(path).text())
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line) as Row);

describe("the recorded packings", () => {
  test("are all there", () => expect(rows.length).toBe(106));

  test.each(rows.map((row) => [row.id, row] as const))("%s", (_, { input, expected }) => {
    const pack = () =>
      packMicroBatches(input.lengths, input.total_samples, {
        maxItems: input.max_items,
        maxPaddedTokens: input.max_padded_tokens,
      });
    if (expected.refused) {
      expect(pack).toThrow(RangeError);
      return;
    }
    const batches = pack();
    expect(batches.map(({ items }) => items)).toEqual(expected.micro_batches);
    expect(batches.map(({ paddedTokens }) => paddedTokens)).toEqual(expected.padded_tokens);
    expect(batches.map(({ weight }) => weight)).toEqual(expected.weights_float32);
    const scaled = batches.map(({ items, weight }) => [
      ...scaleAdvantages(
        Float32Array.from(items, (index) => input.advantages[index] ?? NaN),
        weight,
      ),
    ]);
    expect(scaled).toEqual(expected.scaled_advantages_float32);
  });
});

const steps = fc
  .record({
    lengths: fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1, maxLength: 80 }),
    idle: fc.integer({ min: 0, max: 50 }),
    maxItems: fc.integer({ min: 1, max: 40 }),
    maxPaddedTokens: fc.integer({ min: 1, max: 40_000 }),
  })
  .chain((step) =>
    fc.record({
      step: fc.constant(step),
      advantages: fc.array(fc.double({ min: -2, max: 2, noNaN: true }), {
        minLength: step.lengths.length,
        maxLength: step.lengths.length,
      }),
    }),
  );

describe("any packing", () => {
  test("holds every datum once, keeps both limits, and scales to the same sum", () => {
    fc.assert(
      fc.property(steps, ({ step, advantages }) => {
        const { lengths, idle, ...limits } = step;
        const scored = lengths.length + idle;
        const batches = packMicroBatches(lengths, scored, limits);
        const seen = batches.flatMap(({ items }) => items).sort((a, b) => a - b);
        expect(seen).toEqual(lengths.map((_, index) => index));
        let total = 0;
        for (const { items, paddedTokens, weight } of batches) {
          const longest = Math.max(...items.map((index) => lengths[index] ?? 0));
          expect(items.length).toBeLessThanOrEqual(limits.maxItems);
          expect(paddedTokens).toBe(items.length * longest);
          if (items.length > 1) expect(paddedTokens).toBeLessThanOrEqual(limits.maxPaddedTokens);
          // What the learner does: the mean over the samples of a batch, of advantages already scaled.
          const own = Float32Array.from(items, (index) => advantages[index] ?? NaN);
          const scaled = scaleAdvantages(own, weight);
          total += scaled.reduce((sum, value) => sum + value, 0) / items.length;
        }
        const plain = advantages.reduce((sum, value) => sum + value, 0) / scored;
        // float32 keeps 24 bits of every one of at most 80 summands below 2.
        expect(Math.abs(total - plain)).toBeLessThan(1e-5);
      }),
    );
  });
});

test("the weight is rounded to float32 before it multiplies", () => {
  // 1.75 × float32(1/3); rounding the product only would give 0.5833333134651184.
  expect([...scaleAdvantages(Float32Array.of(1.75), 1 / 3)]).toEqual([0.5833333730697632]);
});

describe("refused", () => {
  test("are no scored sample, fewer than the datums, and limits that are no counts", () => {
    expect(() => packMicroBatches([], 0)).toThrow("Expected scored samples to be an integer");
    expect(() => packMicroBatches([5, 5], 1)).toThrow(
      "Expected at least as many scored samples as datums (2), got 1",
    );
    expect(() => packMicroBatches([0], 1)).toThrow("Expected length of datum 0");
    expect(() => packMicroBatches([5], 1, { maxItems: 0, maxPaddedTokens: 10 })).toThrow(
      "max_items",
    );
  });
});
