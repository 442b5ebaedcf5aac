/**
 * The real library in its pool, against its own verdicts as they were recorded.
 * `INTERLACE_FULL_SWEEP=1` judges all recorded pairs (a minute) instead of every sixth.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { boxedGrader, nativeJudge, scoreGrade, type Grader } from "@interlace/core";
import { mathVerifyJudge, type MathVerifyJudge } from "../../src/index.ts";
import { readLines } from "../../src/math-verify/read-lines.ts";
import { isRunning } from "../support/is-running.ts";
import { readVector } from "../support/read-vector.ts";
import { testPython } from "../support/test-python.ts";

/** Processes are started: on a busy machine that takes its time. */
setDefaultTimeout(300_000);

type Pair = {
  readonly id: string;
  readonly input: { readonly reference: string; readonly prediction: string };
  readonly expected: { readonly equal: boolean };
  /** The library timed out or raised, and said "false". */
  readonly error?: string;
};

type Final = {
  readonly id: string;
  readonly input: { readonly text: string; readonly reference: string };
  readonly expected: {
    readonly answer: string | null;
    readonly valid_format: boolean;
    readonly correct: boolean;
    readonly reward: number;
  };
};

const never = new AbortController().signal;

let python: string;
let judge: MathVerifyJudge;
let grader: Grader;

beforeAll(async () => {
  python = await testPython();
  judge = mathVerifyJudge({ python, timeoutSeconds: 60 });
  grader = boxedGrader([nativeJudge, judge]);
});

afterAll(async () => {
  await judge[Symbol.asyncDispose]();
});

test("the pool gives the library's recorded verdicts; where the library failed, it may say so", async () => {
  const all = await readVector<Pair>("answers_equivalent.jsonl");
  const stride = process.env["INTERLACE_FULL_SWEEP"] === "1" ? 1 : 6;
  // Pairs that never end are asked below, with a shorter limit.
  const asked = all.filter((row, i) => i % stride === 0 && !row.error?.startsWith("Timeout"));
  const wrong = await Promise.all(
    asked.map(async ({ id, input, expected, error }) => {
      const { kind } = await judge.judge(input.reference, input.prediction, never);
      if (kind === (expected.equal ? "equal" : "different")) return [];
      return kind === "unscored" && error !== undefined ? [] : [`${id}: ${kind}`];
    }),
  );
  console.log(`${asked.length} of ${all.length} recorded pairs judged by Math-Verify`);
  expect(wrong.flat()).toEqual([]);
  expect(asked.length).toBeGreaterThan(1000);
});

test("native and Math-Verify together score every recorded final text as recorded", async () => {
  const rows = await readVector<Final>("extract_boxed.jsonl");
  const scores = await Promise.all(
    rows.map(async ({ id, input }) => {
      return { id, ...scoreGrade(await grader.grade(input.text, input.reference, never)) };
    }),
  );
  expect(scores).toEqual(
    rows.map(({ id, expected }) => ({
      id,
      reward: expected.reward,
      validFormat: expected.valid_format,
      correct: expected.correct,
      answer: expected.answer,
    })),
  );
});

test("each grade names the judge that decided it", async () => {
  const by = async (boxed: string, answer: string) => {
    const grade = await grader.grade(`\\boxed{${boxed}}`, answer, never);
    return grade.kind === "unscored" ? grade.reason : `${grade.kind} by ${grade.by}`;
  };
  expect(await by("0.5", "1/2")).toBe("equal by native");
  expect(await by("(2,4)", "{2,4}")).toBe("equal by math_verify");
  expect(await by("x+1", "1+x")).toBe("equal by math_verify");
  expect(await by("x+2", "1+x")).toBe("different by math_verify");
});

describe("what would hang, break or exhaust the judge never becomes a wrong answer", () => {
  test("towers of powers run into the limit, and the next pair is judged", async () => {
    await using quick = mathVerifyJudge({ python, workers: 2, timeoutSeconds: 1 });
    const towers = ["9^{9^{9^9}}", "9^{9^{9}}", "10^{10^{10}}"];
    const verdicts = await Promise.all(towers.map((each) => quick.judge("1", each, never)));
    for (const verdict of verdicts) {
      expect(verdict.kind === "unscored" ? verdict.reason : verdict.kind).toMatch(LIMITS);
    }
    expect(await quick.judge("x", "x", never)).toEqual({ kind: "equal" });
  });

  test("100,000 braces and an answer of 1 MB are refused, on either side", async () => {
    for (const huge of [
      "{".repeat(100_000),
      "{".repeat(50_000) + "}".repeat(50_000),
      "7".repeat(1e6),
    ]) {
      expect(await judge.judge("7", huge, never)).toMatchObject({ reason: "too_long" });
      expect(await judge.judge(huge, "7", never)).toMatchObject({ reason: "too_long" });
    }
  });

  test("a worker killed in the middle of a verdict", async () => {
    await using one = mathVerifyJudge({ python, workers: 1, timeoutSeconds: 60 });
    expect(await one.judge("x", "x", never)).toEqual({ kind: "equal" });
    const [pid = 0] = one.pids();
    const verdict = one.judge("1", "9^{9^{9^9}}", never);
    process.kill(pid, "SIGKILL");
    expect(await verdict).toEqual({
      kind: "unscored",
      reason: "worker_died",
      detail: "The worker ended (SIGKILL)",
    });
    expect(await one.judge("x", "y", never)).toEqual({ kind: "different" });
    expect(one.pids()).not.toContain(pid);
  });

  test("a reference that the library cannot read scores nobody; such an answer is wrong", async () => {
    const unreadable = "1".repeat(5000);
    expect(await judge.judge(unreadable, "1", never)).toMatchObject({
      kind: "unscored",
      reason: "judge_error",
    });
    expect(await judge.judge("1", unreadable, never)).toEqual({ kind: "different" });
  });

  test.each([
    "",
    "\0",
    "\ud800",
    "$$",
    "\\",
    "}{",
    "\n\n",
    "%",
    "\u202e1",
    "`rm -rf`",
    "__import__('os')",
  ])("%j is judged like any other text", async (text) => {
    expect((await judge.judge("1", text, never)).kind).toBe("different");
  });
});

test("an interpreter without Math-Verify: unscored, and one warning with the reason", async () => {
  const warnings: string[] = [];
  await using none = mathVerifyJudge({
    python,
    workerCommand: (found) => [found, "-c", "import math_verify_that_is_not_there"],
    warn: (line) => warnings.push(line),
  });
  const verdicts = await Promise.all([none.judge("x", "x", never), none.judge("y", "y", never)]);
  for (const verdict of verdicts) {
    expect(verdict).toEqual({
      kind: "unscored",
      reason: "no_worker",
      detail: expect.stringContaining("ModuleNotFoundError"),
    });
  }
  expect(warnings).toHaveLength(1);
});

test("nothing is left behind", async () => {
  const own = mathVerifyJudge({ python, workers: 2 });
  await Promise.all([own.judge("x", "x", never), own.judge("y", "y", never)]);
  const pids = own.pids();
  expect(pids.filter(isRunning)).toEqual([...pids]);
  await own[Symbol.asyncDispose]();
  expect(pids.filter(isRunning)).toEqual([]);
});

test("a worker does not outlive an engine that was killed", async () => {
  const program = fileURLToPath(new URL("../support/engine-with-judge.ts", import.meta.url));
  const engine = Bun.spawn([process.execPath, program, python], { stdout: "pipe" });
  const first = await readLines(engine.stdout).next();
  const pid = Number(first.value);
  expect(pid).toBeGreaterThan(1);
  engine.kill("SIGKILL");
  while (isRunning(pid)) await Bun.sleep(5);
});

/** Whichever comes first on this machine. */
const LIMITS = /^(timeout|memory)$/;
