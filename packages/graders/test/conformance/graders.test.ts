import { setDefaultTimeout } from "bun:test";
import {
  aimeIntegerJudge,
  boxedGrader,
  choiceJudge,
  exactJudge,
  nativeJudge,
  numericJudge,
} from "@interlace/core";
import { codeTestsGrader, limitJudge, mathVerifyJudge, modelJudge } from "../../src/index.ts";
import { openJudgeServer } from "../support/judge-server.ts";
import { pythonSandbox } from "../support/python-sandbox.ts";
import { testPython } from "../support/test-python.ts";
import { BOXED, testGrader } from "./grader-suite.ts";

/** Processes are started: on a busy machine that takes its time. */
setDefaultTimeout(300_000);

testGrader("native", async () => boxedGrader([nativeJudge]));

testGrader("aime_integer", async () => boxedGrader([aimeIntegerJudge]));

testGrader("native, then math_verify", async () => {
  const judge = mathVerifyJudge({ python: await testPython(), workers: 1, timeoutSeconds: 2 });
  return Object.assign(boxedGrader([nativeJudge, judge]), {
    [Symbol.asyncDispose]: () => judge[Symbol.asyncDispose](),
  });
});

testGrader("exact", async () => boxedGrader([exactJudge]));

testGrader("numeric", async () => boxedGrader([numericJudge({ absolute: 0.01, relative: 0 })]));

testGrader("choice", async () => boxedGrader([choiceJudge]), {
  reference: "(B)",
  right: "so \\boxed{b}",
  wrong: "so \\boxed{A}",
  answers: ["b", "A"],
  malformed: BOXED.malformed,
});

testGrader("judge, with a time limit of its own", async () => {
  const server = openJudgeServer(({ reference, predicted }) =>
    reference === predicted.trim() ? "Same value.\nEQUAL" : "DIFFERENT",
  );
  const judge = limitJudge(modelJudge({ url: server.url, model: "m", waitSeconds: 0 }), 60);
  return Object.assign(boxedGrader([judge]), { [Symbol.asyncDispose]: server.stop });
});

testGrader("code_tests", async () => codeTestsGrader({ sandbox: pythonSandbox() }), {
  reference: "assert add(2, 3) == 5",
  right: "Here:\n```python\ndef add(a, b):\n    return a + b\n```\nDone.",
  wrong: "```python\ndef add(a, b):\n    return a - b\n```",
  answers: ["def add(a, b):\n    return a + b", "def add(a, b):\n    return a - b"],
  malformed: [
    "def add(a, b): return a + b",
    "```python\ndef add(a, b): return a + b",
    "```js\n1\n```",
  ],
});
