import { setDefaultTimeout } from "bun:test";
import { aimeIntegerJudge, boxedGrader, nativeJudge } from "@interlace/core";
import { mathVerifyJudge } from "../../src/index.ts";
import { testPython } from "../support/test-python.ts";
import { testGrader } from "./grader-suite.ts";

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
