/** In: the grading settings. Out: what decides whether an answer is right. */
import { fileURLToPath } from "node:url";
import {
  aimeIntegerJudge,
  boxedGrader,
  choiceJudge,
  exactJudge,
  nativeJudge,
  numericJudge,
  type Grader,
  type Judge,
  type Sandbox,
} from "@interlace/core";
import {
  codeTestsGrader,
  ensureMathVerifyEnv,
  mathVerifyJudge,
  modelJudge,
} from "@interlace/graders";
import { readKey } from "../config/read-key.ts";
import type { Config } from "../config/schema.ts";
import { wrongUse } from "../person-error.ts";
import { isBuiltInData } from "./open-problems.ts";

export type OpenedGrader = AsyncDisposable & { readonly grader: Grader };

/** Beside the checkout's other set-up, so that it is made once whatever the working folder is. */
const PYTHON_ENVIRONMENTS = fileURLToPath(
  new URL("../../../../.interlace/python", import.meta.url),
);

/**
 * Nothing is started or installed before the first answer needs it. `sandbox`: where code is tested; null = there is
 * none. Throws a PersonError when a grader lacks what it needs.
 */
export function openGrader(
  config: Config,
  tell: (line: string) => void,
  sandbox: Sandbox | null,
): OpenedGrader {
  const { grading } = config;
  const { timeoutSeconds, workers } = grading;
  const name = chooseGrader(config);
  switch (name) {
    case "native":
      return boxed(nativeJudge);
    case "aime_integer":
      return boxed(aimeIntegerJudge);
    case "exact":
      return boxed(exactJudge);
    case "choice":
      return boxed(choiceJudge);
    case "numeric": {
      const { absoluteTolerance: absolute, relativeTolerance: relative } = grading;
      return boxed(numericJudge({ absolute, relative }));
    }
    case "judge":
      return boxed(openModelJudge(config));
    case "code_tests": {
      if (sandbox === null) throw wrongUse("grading.grader is code_tests, which needs a sandbox");
      const limits = { wallSeconds: timeoutSeconds };
      const grader = codeTestsGrader({ sandbox, limits, totalSeconds: grading.testsTotalSeconds });
      return { grader, [Symbol.asyncDispose]: async () => {} };
    }
    case "math_verify": {
      const judge = mathVerifyJudge({
        python: () => ensureMathVerifyEnv({ folder: PYTHON_ENVIRONMENTS, tell }),
        timeoutSeconds,
        warn: tell,
        ...(workers === null ? {} : { workers }),
      });
      return {
        grader: boxedGrader([nativeJudge, judge]),
        [Symbol.asyncDispose]: () => judge[Symbol.asyncDispose](),
      };
    }
  }
}

/** The verdict of every other grader stands for what stands in the box. */
export function gradesBoxes(config: Config): boolean {
  return chooseGrader(config) !== "code_tests";
}

function boxed(judge: Judge): OpenedGrader {
  return { grader: boxedGrader([judge]), [Symbol.asyncDispose]: async () => {} };
}

function openModelJudge({ grading }: Config): Judge {
  const { url, model, apiKeyEnv, timeoutSeconds, concurrency } = grading.judge;
  if (url === null || model === null) {
    throw wrongUse("grading.grader is judge: name its server and model in [grading.judge]");
  }
  const key = apiKeyEnv === null ? {} : { apiKey: readKey("grading.judge.api_key_env", apiKeyEnv) };
  return modelJudge({ url, model, timeoutSeconds, concurrency, ...key });
}

/** Answers of the built-in problems are integers: no first run waits for a library that it does not need. */
export function chooseGrader({
  grading,
  data,
}: Config): Exclude<Config["grading"]["grader"], "auto"> {
  if (grading.grader !== "auto") return grading.grader;
  return isBuiltInData(data) ? "native" : "math_verify";
}
