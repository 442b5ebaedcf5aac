import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { requestSeed, rolloutConfigSchema, splitMix64, stepSeed } from "../../src/index.ts";

const positional = rolloutConfigSchema.parse({ seedScheme: "positional" });
const hashed = rolloutConfigSchema.parse({});

describe("SplitMix64", () => {
  // First outputs of the reference C program (Vigna, splitmix64.c) for these states.
  test.each([
    [0n, 0xe220a8397b1dcdafn],
    [1n, 0x910a2dec89025cc1n],
    [1234567n, 0x599ed017fb08fc85n],
  ])("state %p gives the published first output", (state, output) => {
    expect(splitMix64(state)).toBe(output);
  });
});

describe("requestSeed", () => {
  test("hashed seeds are pinned: changing them changes every run", () => {
    expect(stepSeed(42, 0)).toBe(1695576580);
    expect(stepSeed(42, 1)).toBe(210977509);
    const place = { step: 0, question: 3, group: 5, turn: 2 };
    expect(requestSeed(hashed, place)).toBe((1695576580 + 3 * 8 * 6 + 2 * 8 + 5) % 2 ** 31);
  });

  test("positional is seed + question, then seed + trajectory + 10000 × turns", () => {
    expect(requestSeed(positional, { step: 9, question: 1, group: null, turn: 0 })).toBe(43);
    expect(requestSeed(positional, { step: 9, question: 1, group: 2, turn: 1 })).toBe(10_052);
  });

  test("no two sequences of one step share a hashed seed", () => {
    const small = { groupSize: 3, maxAssistantTurns: 4 };
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 31 - 1 }), fc.nat(1000), (seed, step) => {
        const config = rolloutConfigSchema.parse({ ...small, seed });
        const seeds: number[] = [];
        for (let question = 0; question < 5; question++) {
          const first = requestSeed(config, { step, question, group: null, turn: 0 });
          for (let i = 0; i < 3; i++) seeds.push((first + i) % 2 ** 31);
          for (let turn = 1; turn < 4; turn++) {
            for (let group = 0; group < 3; group++) {
              seeds.push(requestSeed(config, { step, question, group, turn }));
            }
          }
        }
        expect(new Set(seeds).size).toBe(seeds.length);
        expect(seeds.every((s) => Number.isInteger(s) && s >= 0 && s < 2 ** 31)).toBe(true);
      }),
    );
  });

  test("steps of one run do not repeat each other", () => {
    const firsts = Array.from({ length: 1000 }, (_, step) => stepSeed(42, step));
    expect(new Set(firsts).size).toBe(1000);
  });
});
