import { describe, expect, test } from "bun:test";
import { fail, type Sandbox } from "@interlace/core";
import { codeTestsGrader } from "../../src/index.ts";
import { pythonSandbox } from "../support/python-sandbox.ts";

const { signal } = new AbortController();
const block = (code: string) => `\`\`\`python\n${code}\n\`\`\``;
const ECHO = JSON.stringify([
  { input: "2 3\n", output: "5\n" },
  { input: "10 -4", output: "6" },
]);
const SUM = "a, b = map(int, input().split())\nprint(a + b)";

const grade = (text: string, reference: string, sandbox: Sandbox = pythonSandbox()) =>
  codeTestsGrader({ sandbox, limits: { wallSeconds: 20 } }).grade(text, reference, signal);

describe("input and output", () => {
  test("a program that is right for every test is right", async () => {
    expect(await grade(block(SUM), ECHO)).toEqual({ kind: "equal", answer: SUM, by: "code_tests" });
    const columns = JSON.stringify({ inputs: ["1 1"], outputs: ["2"] });
    expect(await grade(block(SUM), columns)).toMatchObject({ kind: "equal" });
  });

  test("the first test that fails ends it", async () => {
    const sandbox = pythonSandbox();
    expect(await grade(block("print(6)"), ECHO, sandbox)).toMatchObject({ kind: "different" });
    expect(sandbox.runs()).toBe(1);
  });

  test("a program that raises after the right output is wrong", async () => {
    const code = `${SUM}\nraise SystemExit(3)`;
    expect(await grade(block(code), ECHO)).toMatchObject({ kind: "different" });
  });
});

describe("asserts", () => {
  const tests = "assert f(2) == 4\nassert f(-3) == 9";

  test.each([
    ["def f(x): return x * x", "equal"],
    ["def f(x): return x + x", "different"],
    ["def g(x): return x * x", "different"],
    ["def f(x: return", "different"],
    ["print('partial', end='')\ndef f(x): return x * x", "equal"],
  ])("%j is %s", async (code, kind) => {
    expect(await grade(block(code), tests)).toMatchObject({ kind, answer: code });
  });

  test.each(["import sys; sys.exit(0)", "import os; os._exit(0)", "print('ok'); raise SystemExit"])(
    "ending early passes no test: %s",
    async (code) => {
      expect(await grade(block(code), tests)).toMatchObject({ kind: "different" });
    },
  );

  test("a program that never ends is wrong, not unscored", async () => {
    const grader = codeTestsGrader({ sandbox: pythonSandbox(), limits: { wallSeconds: 0.5 } });
    const slow = await grader.grade(block("while True: pass"), tests, signal);
    expect(slow).toMatchObject({ kind: "different" });
  });
});

test("of several blocks the last one of Python counts", async () => {
  const text = `${block("def f(x): return 0")}\n${block("def f(x): return x")}\n\`\`\`sh\nls\n\`\`\``;
  expect(await grade(text, "assert f(7) == 7")).toMatchObject({ kind: "equal" });
});

test("a broken sandbox is unscored, and so is a reference without tests", async () => {
  const broken: Sandbox = {
    isolation: () => ({ backend: "test", level: "none", lines: [] }),
    run: () => Promise.resolve(fail("sandbox", "worker_died", "gone")),
  };
  expect(await grade(block(SUM), ECHO, broken)).toEqual({
    kind: "unscored",
    reason: "worker_died",
    detail: "gone",
  });
  for (const reference of ["", "[]", '[{"input": 1, "output": "2"}]', "{}"]) {
    expect(await grade(block(SUM), reference)).toMatchObject({ reason: "bad_reference" });
  }
});
