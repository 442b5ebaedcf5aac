/** What runs the model's code. */
import { serverUrlSchema, variableNameSchema } from "@interlace/sampler-clients";
import { z } from "zod";

const positive = z.int().min(1);

export const sandboxSchema = z.strictObject({
  backend: z
    .enum(["auto", "zygote", "bubblewrap", "process", "remote"])
    .default("auto")
    .describe("how the model's Python runs; auto = the best that this machine gives"),
  url: z
    .union([serverUrlSchema, z.array(serverUrlSchema).min(1)])
    .nullable()
    .default(null)
    .describe("remote: base URL of a SandboxFusion-compatible service; several are replicas"),
  tokenEnv: variableNameSchema
    .nullable()
    .default(null)
    .describe("remote: environment variable that holds the service's token"),
  preload: z
    .array(z.string().min(1))
    .default([])
    .describe("modules that the warm pool imports ahead of every run, besides the usual ones"),
  python: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe("interpreter that runs the model's code, null = python3 of the PATH"),
  timeoutSeconds: z.number().gt(0).max(86_400).default(30).describe("wall clock of one run"),
  workers: positive.nullable().default(null).describe("runs at once, null = one per core"),
  autoPrint: z
    .boolean()
    .default(false)
    .describe("print the value of a last statement that is an expression"),
  require: z
    .enum(["none", "standard", "strict"])
    .default("standard")
    .describe("isolation below which nothing starts"),
});
