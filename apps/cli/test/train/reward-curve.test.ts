import { expect, test } from "bun:test";
import { movingMean, rewardChart, sparkline } from "../../src/train/reward-curve.ts";

test("the mean is over the last ten, and over fewer at the start", () => {
  expect(movingMean([1, -1, 1])).toEqual([1, 0, 1 / 3]);
  const twelve = movingMean([...Array<number>(10).fill(-1), 1, 1]);
  expect(twelve[9]).toBe(-1);
  expect(twelve[11]).toBeCloseTo(-0.6, 12);
});

test("a sparkline goes from the lowest bar at −1 to the highest at +1, and keeps to its width", () => {
  expect(sparkline([-1], 5)).toBe("▁");
  expect(sparkline([1], 5)).toBe("█");
  expect(sparkline(Array<number>(50).fill(0), 8)).toBe("▅".repeat(8));
});

test("a chart names −1, 0 and +1, and has one mark a column", () => {
  const chart = rewardChart([-1, -1, 1, 1], { width: 4, height: 5 });
  expect(chart).toEqual([
    "  +1.0 ┤",
    "       ┤",
    "  +0.0 ┤   •",
    "       ┤  •",
    "  −1.0 ┤••",
    "       └────",
    "        1  4  steps",
  ]);
});

test("a long run shares columns and ends with its last step; no step is no chart", () => {
  const rising = Array.from({ length: 1000 }, (_, i) => (i / 999) * 2 - 1);
  const chart = rewardChart(rising, { width: 20, height: 5 });
  expect(chart[0]).toBe(`  +1.0 ┤${" ".repeat(17)}•••`);
  expect(chart.at(-1)).toBe(`        1${" ".repeat(15)}1000  steps`);
  expect(rewardChart([])).toEqual([]);
});
