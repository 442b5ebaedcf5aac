/** What goes wrong around a worker: driven by a worker that misbehaves on demand, no Python needed. */
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { fileURLToPath } from "node:url";
import type { Verdict } from "@interlace/core";
import { mathVerifyJudge, type MathVerifyJudge, type MathVerifyOptions } from "../../src/index.ts";
import { isRunning } from "../support/is-running.ts";

/** Processes are started: on a busy machine that takes its time. */
setDefaultTimeout(300_000);

const never = new AbortController().signal;
const program = fileURLToPath(new URL("../support/fake-worker.ts", import.meta.url));

const open: MathVerifyJudge[] = [];
const warnings: string[] = [];

function fakePool(options: Partial<MathVerifyOptions> = {}, mode = "good"): MathVerifyJudge {
  const judge = mathVerifyJudge({
    python: process.execPath,
    workers: 1,
    warn: (line) => warnings.push(line),
    workerCommand: (python) => [python, program, mode],
    ...options,
  });
  open.push(judge);
  return judge;
}

afterEach(async () => {
  for (const judge of open.splice(0)) await judge[Symbol.asyncDispose]();
  warnings.length = 0;
});

const ask = (judge: MathVerifyJudge, prediction: string, signal = never): Promise<Verdict> =>
  judge.judge("reference", prediction, signal);

test("verdicts come back to those who asked, over several workers", async () => {
  const judge = fakePool({ workers: 3 });
  const asked = Array.from({ length: 60 }, (_, i) => (i % 3 === 0 ? "no" : "yes"));
  const kinds = (await Promise.all(asked.map((each) => ask(judge, each)))).map(({ kind }) => kind);
  expect(kinds).toEqual(asked.map((each) => (each === "no" ? "different" : "equal")));
  expect(judge.pids().length).toBeLessThanOrEqual(3);
});

test("one pair starts one worker, no pair starts none", async () => {
  let called = 0;
  const python = async () => ({ ok: true, python: process.execPath, made: false }) as const;
  const judge = fakePool({ workers: 4, python: () => (called++, python()) });
  expect(judge.pids()).toEqual([]);
  expect(called).toBe(0);
  await ask(judge, "yes");
  await ask(judge, "yes");
  expect(judge.pids()).toHaveLength(1);
  expect(called).toBe(1);
});

describe("a worker that goes wrong costs its own pair only, and never a silent different", () => {
  test.each([
    ["hang", { timeoutSeconds: 0.2 }, "timeout", "Expected an answer within 0.2 s"],
    ["die", {}, "worker_died", "The worker ended (exit code 3): Fatal: out of luck"],
    ["kill", {}, "worker_died", "The worker ended (SIGKILL)"],
    ["babble", {}, "worker_confused", "Expected a verdict on request 2, got no JSON"],
    ["wrong id", {}, "worker_confused", "Expected a verdict on request 2, got"],
  ])("%s", async (prediction, options, reason, detail) => {
    const judge = fakePool(options);
    expect(await ask(judge, "yes")).toEqual({ kind: "equal" });
    const [pid = 0] = judge.pids();
    const [bad, next] = await Promise.all([ask(judge, prediction), ask(judge, "no")]);
    expect(bad).toEqual({ kind: "unscored", reason, detail: expect.stringContaining(detail) });
    expect(next).toEqual({ kind: "different" });
    expect(isRunning(pid)).toBe(false);
  });

  // Only Linux tells how much memory a process holds.
  test.skipIf(process.platform !== "linux")("grow", async () => {
    const judge = fakePool({ memoryBytes: 3e8 });
    const [bad, next] = await Promise.all([ask(judge, "grow"), ask(judge, "yes")]);
    expect(bad).toMatchObject({ kind: "unscored", reason: "memory" });
    expect(next).toEqual({ kind: "equal" });
  });
});

describe("no judge to be had: everything is unscored and one warning tells why", () => {
  test("no environment", async () => {
    let called = 0;
    const detail = "Expected Python 3.11 or newer, found: no python3 in the PATH";
    const judge = fakePool({
      workers: 2,
      python: async () => (called++, { ok: false, reason: "no_python", detail }),
    });
    const unscored = { kind: "unscored", reason: "no_python", detail } as const;
    const both = await Promise.all([ask(judge, "yes"), ask(judge, "yes")]);
    expect(both).toEqual([unscored, unscored]);
    expect(await ask(judge, "yes")).toEqual(unscored);
    expect(called).toBe(1);
    expect(warnings).toEqual([`Answers that need Math-Verify stay unscored: ${detail}`]);
  });

  test("an environment that throws", async () => {
    const judge = fakePool({ python: () => Promise.reject(new Error("bug")) });
    expect(await ask(judge, "yes")).toMatchObject({ kind: "unscored", reason: "no_python" });
    expect(warnings).toHaveLength(1);
  });

  test.each([
    ["broken", "exit code 1): ModuleNotFoundError: no module"],
    ["silent", "Expected an answer within 0.2 s"],
  ])("a worker that does not start: %s", async (mode, detail) => {
    const judge = fakePool({ startSeconds: mode === "silent" ? 0.2 : 60 }, mode);
    expect(await ask(judge, "yes")).toEqual({
      kind: "unscored",
      reason: "no_worker",
      detail: expect.stringContaining(detail),
    });
    expect(warnings).toHaveLength(1);
  });

  test("an interpreter that is not there", async () => {
    const judge = fakePool({ python: "/nowhere/python" });
    expect(await ask(judge, "yes")).toMatchObject({ kind: "unscored", reason: "no_worker" });
  });
});

describe("limits of the input", () => {
  test("a side that is too long is refused without asking, not judged different", async () => {
    const judge = fakePool({ maxLength: 10 });
    const long = "x".repeat(11);
    for (const [reference, prediction] of [
      [long, "1"],
      ["1", long],
    ] as const) {
      expect(await judge.judge(reference, prediction, never)).toEqual({
        kind: "unscored",
        reason: "too_long",
        detail: "Expected answers of at most 10 characters, got one of 11",
      });
    }
    expect(judge.pids()).toEqual([]);
  });

  test("a full queue refuses, and goes on once there is room", async () => {
    const judge = fakePool({ maxQueue: 2 });
    const waiting = [ask(judge, "yes"), ask(judge, "no")];
    expect(await ask(judge, "yes")).toMatchObject({ kind: "unscored", reason: "queue_full" });
    expect(await Promise.all(waiting)).toEqual([{ kind: "equal" }, { kind: "different" }]);
    expect(await ask(judge, "yes")).toEqual({ kind: "equal" });
  });
});

describe("abort", () => {
  test("rejects the pair that waits and the one that is judged, and nobody else", async () => {
    const judge = fakePool({ timeoutSeconds: 0.5 });
    await ask(judge, "yes");
    const controller = new AbortController();
    const judged = ask(judge, "hang", controller.signal);
    const waiting = ask(judge, "yes", controller.signal);
    const other = ask(judge, "no");
    controller.abort(new Error("stop"));
    expect(await judged.catch(String)).toBe("Error: stop");
    expect(await waiting.catch(String)).toBe("Error: stop");
    expect(await other).toEqual({ kind: "different" });
    expect(await ask(judge, "yes", controller.signal).catch(String)).toBe("Error: stop");
  });
});

describe("dispose", () => {
  test("settles what was asked and leaves no process behind", async () => {
    const judge = fakePool({ workers: 2 });
    await Promise.all([ask(judge, "yes"), ask(judge, "yes")]);
    const pids = judge.pids();
    const asked = ["hang", "hang", "yes"].map((each) => ask(judge, each));
    await judge[Symbol.asyncDispose]();
    const detail = "The judge has been closed";
    const closed: Verdict = { kind: "unscored", reason: "closed", detail };
    expect(await Promise.all(asked)).toEqual([closed, closed, closed]);
    expect(await ask(judge, "yes")).toEqual(closed);
    expect(pids.filter(isRunning)).toEqual([]);
  });

  test("ends a worker that is still starting", async () => {
    const started = Promise.withResolvers<void>();
    const judge = fakePool({
      // Called when the worker's program is about to be started.
      workerCommand: (python) => (started.resolve(), [python, program, "silent"]),
    });
    const asked = ask(judge, "yes");
    await started.promise;
    await judge[Symbol.asyncDispose]();
    expect(await asked).toMatchObject({ kind: "unscored", reason: "closed" });
  });

  test("tells no warning: closing is no trouble", async () => {
    const judge = fakePool({}, "broken");
    const asked = ask(judge, "yes");
    await judge[Symbol.asyncDispose]();
    await asked;
    expect(warnings).toEqual([]);
  });
});

test("a worker that died while idle is not given a pair", async () => {
  const judge = fakePool();
  await ask(judge, "yes");
  const [pid = 0] = judge.pids();
  process.kill(pid, "SIGKILL");
  // The engine has seen its end once the system has: the next pair comes after that.
  while (isRunning(pid)) await Bun.sleep(1);
  expect(await ask(judge, "no")).toEqual({ kind: "different" });
});

test("a worker is replaced after so many verdicts", async () => {
  const judge = fakePool({ verdictsPerWorker: 2 });
  const pids = new Set<number>();
  for (let i = 0; i < 4; i++) {
    await ask(judge, "yes");
    for (const pid of judge.pids()) pids.add(pid);
  }
  expect(pids.size).toBe(2);
});
