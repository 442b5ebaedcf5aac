import { expect, test } from "bun:test";
import { captured, fail, type ExecResult, type ExecStatus } from "@interlace/core";
import { count, NO_STATISTICS, ratesBetween } from "../../src/statistics.ts";

function result(status: ExecStatus, wallSeconds = 1, queuedSeconds = 0.5): ExecResult {
  const usage = { queuedSeconds, wallSeconds, cpuSeconds: null, peakMemoryBytes: null };
  const output = { stdout: captured(""), stderr: captured("") };
  return { ok: true, status, exitCode: 0, signal: null, limit: null, ...output, usage };
}

test("rates are over results of the code; failures of the sandbox and cancels are apart", () => {
  const answers = [
    result("ok", 1),
    result("ok", 3),
    result("timeout"),
    result("cpu_limit"),
    result("error"),
    result("memory_limit"),
    result("output_limit"),
    result("killed"),
    result("cancelled"),
    fail("sandbox", "sandbox_error", "broke"),
  ];
  const after = answers.reduce(count, NO_STATISTICS);
  expect(ratesBetween(NO_STATISTICS, after)).toEqual({
    calls: 8,
    okRate: 2 / 8,
    timeoutRate: 2 / 8,
    errorRate: 4 / 8,
    runSeconds: 10 / 8,
    queuedSeconds: 0.5,
    sandboxErrors: 1,
    cancelled: 1,
  });
});

test("without calls every rate is 0", () => {
  expect(ratesBetween(NO_STATISTICS, NO_STATISTICS)).toMatchObject({
    calls: 0,
    okRate: 0,
    runSeconds: 0,
  });
});

test("two readings give what lies between them", () => {
  const before = count(NO_STATISTICS, result("error"));
  expect(ratesBetween(before, count(before, result("ok")))).toMatchObject({ calls: 1, okRate: 1 });
});
