/** The order that `splitmix64` gives is pinned here: changing it changes which problems a seed means. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { batchAt, shuffle, SHUFFLES } from "../../src/index.ts";

// Computed by a separate Python program: SplitMix64, rejection, Fisher–Yates from the end.
test.each([
  [42, 10, [0, 9, 5, 8, 6, 4, 7, 2, 1, 3]],
  [0, 12, [4, 1, 6, 8, 0, 5, 2, 3, 11, 9, 10, 7]],
  [2 ** 31 - 1, 10, [9, 4, 2, 5, 8, 0, 1, 6, 3, 7]],
])("splitmix64 with seed %p orders %p items for ever like this", (seed, size, order) => {
  const items = Array.from({ length: size }, (_, index) => index);
  expect(shuffle(items, seed, "splitmix64")).toEqual(order);
});

test("a shuffle loses nothing, doubles nothing and leaves its input alone", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer()),
      fc.integer({ min: 0, max: 2 ** 31 - 1 }),
      fc.constantFrom(...SHUFFLES),
      (items, seed, name) => {
        const before = [...items];
        const shuffled = shuffle(items, seed, name);
        expect(shuffled.toSorted((a, b) => a - b)).toEqual(before.toSorted((a, b) => a - b));
        expect(items).toEqual(before);
      },
    ),
  );
});

test("batches wrap around the end in the same order", () => {
  const items = ["a", "b", "c", "d", "e"];
  expect(batchAt(items, 0, 2)).toEqual(["a", "b"]);
  expect(batchAt(items, 1, 2)).toEqual(["c", "d"]);
  expect(batchAt(items, 2, 2)).toEqual(["e", "a"]);
  expect(batchAt(items, 3, 2)).toEqual(["b", "c"]);
});

test("a batch larger than the data set meets a problem twice", () => {
  expect(batchAt(["a", "b", "c"], 1, 4)).toEqual(["b", "c", "a", "b"]);
});

test("no problems is refused rather than a batch of nothing", () => {
  expect(() => batchAt([], 0, 2)).toThrow("Expected at least one problem, got none");
});
