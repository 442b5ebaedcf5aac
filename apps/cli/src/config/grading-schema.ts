/** What decides whether an answer is right. */
import { serverUrlSchema, variableNameSchema } from "@interlace/sampler-clients";
import { z } from "zod";

const positive = z.int().min(1);

const GRADERS = [
  "auto",
  "math_verify",
  "native",
  "aime_integer",
  "exact",
  "choice",
  "numeric",
  "code_tests",
  "judge",
] as const;

const modelJudgeSchema = z.strictObject({
  url: serverUrlSchema
    .nullable()
    .default(null)
    .describe("base URL of the OpenAI-compatible server that judges"),
  model: z.string().min(1).nullable().default(null).describe("model that judges"),
  apiKeyEnv: variableNameSchema
    .nullable()
    .default(null)
    .describe("environment variable that holds its key"),
  timeoutSeconds: z.number().gt(0).default(60).describe("time for one answer of the judge"),
  concurrency: positive.default(8).describe("pairs that it is asked at once"),
});

const tolerance = z.number().min(0);

export const gradingSchema = z.strictObject({
  grader: z
    .enum(GRADERS)
    .default("auto")
    .describe("auto = exact forms natively, all else by Math-Verify; the built-in data natively"),
  timeoutSeconds: z
    .number()
    .gt(0)
    .default(10)
    .describe("time for one verdict, or one test of code"),
  workers: positive.nullable().default(null).describe("Math-Verify processes, null = by cores"),
  absoluteTolerance: tolerance.default(1e-6).describe("of numeric: distance that is still equal"),
  relativeTolerance: tolerance
    .default(0)
    .describe("of numeric: distance that is still equal, as a share of the reference"),
  testsTotalSeconds: z
    .number()
    .gt(0)
    .default(60)
    .describe("of code_tests: time for all tests of one program"),
  judge: modelJudgeSchema.prefault({}),
});
