import { expect, test } from "bun:test";
import { classify, signalName, type Ending } from "../../src/ending.ts";
import { DEFAULT_LIMITS } from "../../src/limits.ts";

const ended: Ending = { exitCode: 0, signal: null, killed: null, cpuSeconds: 0.1 };
const limits = { ...DEFAULT_LIMITS, wallSeconds: 3, cpuSeconds: 2 };

test.each<[string, Partial<Ending>, string, number | null]>([
  ["exit 0", {}, "ok", null],
  ["exit 1", { exitCode: 1 }, "error", null],
  ["a crash", { exitCode: null, signal: "SIGSEGV" }, "killed", null],
  ["our time-out", { exitCode: 152, killed: "timeout" }, "timeout", 3],
  ["the kernel's CPU limit", { exitCode: null, signal: "SIGXCPU", cpuSeconds: 2 }, "cpu_limit", 2],
  ["told that time is up", { exitCode: 152, cpuSeconds: 1.2 }, "cpu_limit", 2],
  ["held out against the CPU limit", { signal: "SIGKILL", cpuSeconds: 3 }, "cpu_limit", 2],
  ["an exit code that only looks like it", { exitCode: 152 }, "error", null],
  ["a SIGKILL of its own", { exitCode: null, signal: "SIGKILL" }, "killed", null],
  ["a flood", { signal: "SIGKILL", killed: "output_limit" }, "output_limit", 16 * 1024 * 1024],
  ["out of memory", { signal: "SIGKILL", killed: "memory_limit" }, "memory_limit", 2 ** 31],
])("%s", (_claim, change, status, limit) => {
  expect(classify({ ...ended, ...change }, limits)).toMatchObject({ status, limit });
});

test("signals are told by name", () => {
  expect([signalName(6), signalName(9), signalName(200)]).toEqual(["SIGABRT", "SIGKILL", "SIG200"]);
});
