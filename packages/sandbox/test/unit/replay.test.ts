import { expect, test } from "bun:test";
import { captured, fail, type ExecResult } from "@interlace/core";
import { createSandbox } from "../../src/index.ts";

const never = new AbortController().signal;
const result: ExecResult = {
  ok: true,
  status: "ok",
  exitCode: 0,
  signal: null,
  limit: null,
  stdout: captured("42\n"),
  stderr: captured(""),
  usage: { queuedSeconds: 0, wallSeconds: 0.1, cpuSeconds: 0.1, peakMemoryBytes: 1 },
};

test("a recorded result is given again by its call id, whatever the code", async () => {
  const recorded = new Map([["code-0-0-1", result]]);
  await using sandbox = await createSandbox({ backend: "replay", recorded, require: "strict" });
  expect(await sandbox.run({ id: "code-0-0-1", code: "never run" }, never)).toMatchObject({
    status: "ok",
    stdout: { head: "42\n" },
  });
});

test("a recorded failure stays one and is not retried", async () => {
  const failure = fail("sandbox", "sandbox_error", "the worker was lost");
  await using sandbox = await createSandbox({
    backend: "replay",
    recorded: new Map([["a", failure]]),
  });
  expect(await sandbox.run({ id: "a", code: "" }, never)).toEqual(failure);
  expect(sandbox.statistics()).toMatchObject({ sandboxErrors: 1, retries: 0, calls: 0 });
});

test("a call that was not recorded is a failure that says so", async () => {
  await using sandbox = await createSandbox({ backend: "replay", recorded: new Map() });
  expect(await sandbox.run({ id: "code-9-9-9", code: "" }, never)).toMatchObject({
    ok: false,
    boundary: "sandbox",
    cause: "not_recorded",
    detail: expect.stringContaining("code-9-9-9"),
  });
});
