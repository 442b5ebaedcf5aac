/** In: the grading settings. Out: what decides whether an answer is right. */
import { fileURLToPath } from "node:url";
import { aimeIntegerJudge, boxedGrader, nativeJudge, type Grader } from "@interlace/core";
import { ensureMathVerifyEnv, mathVerifyJudge } from "@interlace/graders";
import type { Config } from "../config/schema.ts";

export type OpenedGrader = AsyncDisposable & { readonly grader: Grader };

/** Beside the checkout's other set-up, so that it is made once whatever the working folder is. */
const PYTHON_ENVIRONMENTS = fileURLToPath(
  new URL("../../../../.interlace/python", import.meta.url),
);

/** Nothing is started or installed before the first answer needs it. */
export function openGrader(config: Config, tell: (line: string) => void): OpenedGrader {
  const { timeoutSeconds, workers } = config.grading;
  switch (chooseGrader(config)) {
    case "native":
      return { grader: boxedGrader([nativeJudge]), [Symbol.asyncDispose]: async () => {} };
    case "aime_integer":
      return { grader: boxedGrader([aimeIntegerJudge]), [Symbol.asyncDispose]: async () => {} };
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

/** Answers of the built-in problems are integers: no first run waits for a library that it does not need. */
export function chooseGrader({
  grading,
  data,
}: Config): Exclude<Config["grading"]["grader"], "auto"> {
  if (grading.grader !== "auto") return grading.grader;
  return data.path === null ? "native" : "math_verify";
}
