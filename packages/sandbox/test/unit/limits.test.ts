import { expect, test } from "bun:test";
import { addressSpace, DEFAULT_LIMITS, resolveLimits } from "../../src/limits.ts";

test("defaults are those of the contract", () => {
  expect(resolveLimits()).toEqual({
    wallSeconds: 30,
    cpuSeconds: 35,
    memoryBytes: 2_147_483_648,
    keepBytes: 65_536,
    maxOutputBytes: 16_777_216,
  });
  expect(addressSpace(DEFAULT_LIMITS)).toBe(4_294_967_296);
});

test("CPU time follows the wall clock unless it is given, in whole seconds", () => {
  expect(resolveLimits({ wallSeconds: 1.5 }).cpuSeconds).toBe(7);
  expect(resolveLimits({ wallSeconds: 9 }, { cpuSeconds: 1.2 }).cpuSeconds).toBe(2);
});

test("a request's limits win over the sandbox's", () => {
  expect(resolveLimits({ wallSeconds: 9, keepBytes: 5 }, { wallSeconds: 2 })).toMatchObject({
    wallSeconds: 2,
    keepBytes: 5,
  });
});

test.each([
  [{ memoryBytes: 2 << 30 }], // negative in 32 bits
  [{ memoryBytes: 0 }],
  [{ memoryBytes: 1.5 }],
  [{ keepBytes: -1 }],
  [{ maxOutputBytes: Number.POSITIVE_INFINITY }],
  [{ wallSeconds: 0 }],
  [{ wallSeconds: Number.NaN }],
  [{ cpuSeconds: -1 }],
])("%j is refused", (limits) => {
  expect(() => resolveLimits(limits)).toThrow(RangeError);
});
