/** Graders as the settings name them: what each needs, and code that is really run. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { createSandbox } from "@interlace/sandbox";
import { openGrader } from "../../src/rollout/open-grader.ts";
import { configWith } from "../support/config.ts";

// Processes are started: on a busy machine that takes its time.
setDefaultTimeout(120_000);

const { signal } = new AbortController();
const tell = (): void => {};

const configOf = (grading: Record<string, unknown>) => configWith({ grading });

test("code is run in the sandbox: right, wrong, slow, and breaking out of the tests", async () => {
  await using sandbox = await createSandbox({ backend: "process" });
  const config = configOf({ grader: "code_tests", timeoutSeconds: 5 });
  await using opened = openGrader(config, tell, sandbox);
  const grade = async (code: string, tests: string) =>
    (await opened.grader.grade(`\`\`\`python\n${code}\n\`\`\``, tests, signal)).kind;
  const io = JSON.stringify([{ input: "4\n", output: "16" }]);
  expect(await grade("print(int(input()) ** 2)", io)).toBe("equal");
  expect(await grade("print(int(input()) * 2)", io)).toBe("different");
  expect(await grade("def f(x): return x ** 2", "assert f(4) == 16")).toBe("equal");
  expect(await grade("def f(x): return x", "assert f(4) == 16")).toBe("different");
  expect(await grade("import os\nos._exit(0)", "assert f(4) == 16")).toBe("different");
  expect(await grade("while True: pass", "assert f(4) == 16")).toBe("different");
});

test.each([
  ["exact", { grader: "exact" }, "x+1", "x+1", "1+x"],
  ["choice", { grader: "choice" }, "B", "(b)", "C"],
  ["numeric", { grader: "numeric", absoluteTolerance: 0.1 }, "3.1", "3.14", "3.3"],
])("%s", async (_, grading, reference, right, wrong) => {
  await using opened = openGrader(configOf(grading), tell, null);
  const grade = async (answer: string) =>
    (await opened.grader.grade(`\\boxed{${answer}}`, reference, signal)).kind;
  expect(await grade(right)).toBe("equal");
  expect(await grade(wrong)).toBe("different");
});

describe("refused before anything is sampled", () => {
  test("a judge without a server, or without its key", () => {
    expect(() => openGrader(configOf({ grader: "judge" }), tell, null)).toThrow(
      "name its server and model in [grading.judge]",
    );
    const judge = { url: "http://127.0.0.1:1", model: "m", apiKeyEnv: "NO_SUCH_KEY_IS_SET" };
    expect(() => openGrader(configOf({ grader: "judge", judge }), tell, null)).toThrow(
      "NO_SUCH_KEY_IS_SET, which is not set",
    );
  });

  test("code tests without a sandbox", () => {
    expect(() => openGrader(configOf({ grader: "code_tests" }), tell, null)).toThrow(
      "which needs a sandbox",
    );
  });
});
