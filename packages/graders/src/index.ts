/** Judges and graders that need I/O, written by hand, in the order in which they are used. */
export {
  ensurePythonEnv,
  type PythonEnv,
  type PythonEnvOptions,
} from "./python-env/ensure-python-env.ts";
export { findPython, type FoundPython } from "./python-env/find-python.ts";
export { ensureMathVerifyEnv, type MathVerifyEnvOptions } from "./math-verify/math-verify-env.ts";
export {
  mathVerifyJudge,
  type MathVerifyJudge,
  type MathVerifyOptions,
} from "./math-verify/math-verify-judge.ts";
export { limitJudge } from "./limit-judge.ts";
export { codeTestsGrader, type CodeTestsOptions } from "./code-tests/code-tests-grader.ts";
export { modelJudge, type ModelJudgeOptions } from "./model-judge/model-judge.ts";
