import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createDrawer, type Sampling } from "../../src/embedded/draw.ts";
import { createGenerator } from "../../src/embedded/generator.ts";

const PLAIN: Sampling = { temperature: 1, topP: 1, topK: null };

/** log of probabilities 0.5, 0.25, 0.125, 0.125, shifted: logits are defined up to a constant. */
const ROW = Float32Array.from([0.5, 0.25, 0.125, 0.125], (p) => Math.log(p) + 3);

const draw = (sampling: Partial<Sampling>, uniform: number, row = ROW) =>
  createDrawer(row.length).draw(row, { ...PLAIN, ...sampling }, uniform);

describe("drawing a token", () => {
  test("a uniform number is looked up in the running sum, in id order", () => {
    const ids = [0, 0.49, 0.51, 0.74, 0.76, 0.87, 0.88, 0.999].map((u) => draw({}, u).id);
    expect(ids).toEqual([0, 0, 1, 1, 2, 2, 3, 3]);
  });

  test("at temperature 1 without cuts the three logprobs are one", () => {
    const { raw, temperatureScaled, processed } = draw({}, 0.6);
    expect(raw).toBeCloseTo(Math.log(0.25), 6);
    expect([temperatureScaled, processed]).toEqual([raw, raw]);
  });

  test("temperature 0.5 squares the probabilities; raw stays", () => {
    // 1/4, 1/16, 1/64, 1/64 → sum 22/64
    const drawn = draw({ temperature: 0.5 }, 0.8);
    expect(drawn.id).toBe(1);
    expect(drawn.raw).toBeCloseTo(Math.log(0.25), 6);
    expect(drawn.temperatureScaled).toBeCloseTo(Math.log(4 / 22), 6);
    expect(drawn.processed).toBeCloseTo(Math.log(4 / 22), 6);
  });

  test("top_p keeps the id that carries the sum over it and renormalises only `processed`", () => {
    const drawn = draw({ topP: 0.6 }, 0.99);
    expect(drawn.id).toBe(1);
    expect(drawn.temperatureScaled).toBeCloseTo(Math.log(0.25), 6);
    expect(drawn.processed).toBeCloseTo(Math.log(0.25 / 0.75), 6);
    expect(draw({ topP: 0.5 }, 0.99)).toMatchObject({ id: 0, processed: 0 });
    expect(draw({ topP: 1e-9 }, 0.99).id).toBe(0);
  });

  test("top_k breaks ties by the lower id and comes before top_p", () => {
    expect(draw({ topK: 3 }, 0.99).id).toBe(2);
    expect(draw({ topK: 1 }, 0.99)).toMatchObject({ id: 0, processed: 0 });
    // of the two kept, 2/3 and 1/3: the first alone reaches 0.6
    expect(draw({ topK: 2, topP: 0.6 }, 0.99).id).toBe(0);
  });

  test("temperature 0 takes the first of the likeliest, whatever was drawn, with its raw logprob", () => {
    const row = Float32Array.of(1, 2, 2, -Infinity);
    const drawn = draw({ temperature: 0 }, 0.999, row);
    const expected = -Math.log(2 + Math.exp(-1));
    expect(drawn.id).toBe(1);
    expect(drawn.raw).toBeCloseTo(expected, 12);
    expect([drawn.temperatureScaled, drawn.processed]).toEqual([drawn.raw, drawn.raw]);
  });

  test("a row with NaN or infinity has no draw", () => {
    for (const bad of [Number.NaN, Infinity]) {
      for (const temperature of [0, 1]) {
        expect(draw({ temperature }, 0.3, Float32Array.of(1, bad, 0, 0)).id).toBe(-1);
      }
    }
  });

  test("property: the drawn id is kept, and its logprobs are those of a softmax written down anew", () => {
    const logits = fc.array(fc.float({ min: -20, max: 20, noNaN: true }), {
      minLength: 2,
      maxLength: 12,
    });
    const settings = fc.record({
      temperature: fc.constantFrom(0.1, 0.5, 1, 1.7),
      topP: fc.constantFrom(0.05, 0.5, 0.9, 1),
      topK: fc.constantFrom(null, 1, 2, 5),
    });
    fc.assert(
      fc.property(logits, settings, fc.double({ min: 0, max: 1 - 2 ** -53, noNaN: true }), check),
    );
    function check(values: number[], sampling: Sampling, uniform: number): void {
      const drawn = draw(sampling, uniform, Float32Array.from(values));
      const scaled = softmax(values.map((value) => value / sampling.temperature));
      const sorted = scaled.toSorted((a, b) => b - a).slice(0, sampling.topK ?? values.length);
      const mass = sorted.reduce((a, b) => a + b, 0);
      const above = scaled.filter((p) => p > scaled[drawn.id]!).reduce((a, b) => a + b, 0);
      expect(above).toBeLessThanOrEqual(sampling.topP * mass + 1e-9);
      expect(drawn.raw).toBeCloseTo(Math.log(softmax(values)[drawn.id]!), 8);
      expect(drawn.temperatureScaled).toBeCloseTo(Math.log(scaled[drawn.id]!), 8);
      expect(drawn.processed).toBeGreaterThanOrEqual(drawn.temperatureScaled - 1e-12);
      expect(drawn.processed).toBeLessThanOrEqual(0);
    }
  });

  test("a hundred thousand draws meet the probabilities within four standard errors", () => {
    const drawer = createDrawer(4);
    const next = createGenerator(20_260_801);
    const counts = [0, 0, 0, 0];
    const n = 100_000;
    for (let i = 0; i < n; i++) counts[drawer.draw(ROW, PLAIN, next()).id]!++;
    for (const [i, p] of [0.5, 0.25, 0.125, 0.125].entries()) {
      expect(Math.abs(counts[i]! - n * p)).toBeLessThan(4 * Math.sqrt(n * p * (1 - p)));
    }
  });
});

describe("the generator", () => {
  test("first numbers of neighbouring seeds are spread over the unit interval", () => {
    const firsts = Array.from({ length: 4000 }, (_, seed) => createGenerator(seed)());
    const tenths = Array.from({ length: 10 }, () => 0);
    for (const u of firsts) tenths[Math.floor(u * 10)]!++;
    for (const count of tenths) expect(Math.abs(count - 400)).toBeLessThan(80);
    expect(new Set(firsts).size).toBe(4000);
  });

  test("the stream of a seed is pinned to sfc32 as Python computes it: recorded runs depend on it", () => {
    const next = createGenerator(42);
    expect([next(), next(), next()]).toEqual([
      0.33173897772846084, 0.8559039111687954, 0.5836243667374701,
    ]);
  });
});

function softmax(values: readonly number[]): number[] {
  const most = Math.max(...values);
  const powers = values.map((value) => Math.exp(value - most));
  const total = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / total);
}
