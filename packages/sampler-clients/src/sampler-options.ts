/**
 * What a person may configure of an inference server: names, limits, defaults and help texts in one schema, which
 * the command line composes into its own. snake_case names are the command line's business.
 */
import { z } from "zod";
import { SAMPLER_KINDS } from "./server.ts";
import { variableNameSchema } from "./variable-name.ts";

const seconds = z.number().positive();
const count = z.int().min(1);

/** Where a server listens. It is printed and recorded, so it must hold no secret; a query would end up in front of paths. */
export const serverUrlSchema = z.url({ protocol: /^https?$/ }).superRefine((text, context) => {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null) return;
  const refuse = (message: string) => context.addIssue({ code: "custom", message, input: "…" });
  if (url.username !== "" || url.password !== "") {
    refuse(
      "a URL must hold no user and no password: it is printed and recorded; name the key's variable with api_key_env",
    );
  }
  if (url.search !== "" || url.hash !== "") refuse("a base URL must have no query and no fragment");
});

const tlsSchema = z
  .strictObject({
    caFile: z.string().optional().describe("PEM file of the authority that signed the server"),
    certFile: z.string().optional().describe("PEM file of our own certificate"),
    keyFile: z.string().optional().describe("PEM file of our own key"),
    serverName: z
      .string()
      .optional()
      .describe("name in the server's certificate, when not the URL's"),
    verify: z.boolean().default(true).describe("false accepts any certificate"),
  })
  .readonly();

const retrySchema = z
  .strictObject({
    attempts: count.default(8).describe("times that one request is sent at most"),
    baseSeconds: seconds.default(0.5).describe("first wait, doubled each time, with full jitter"),
    maxSeconds: seconds.default(30).describe("longest wait"),
    budget: z.int().min(0).default(10_000).describe("retries of the whole run"),
  })
  .readonly();

export const samplerOptionsSchema = z
  .strictObject({
    kind: z.enum(SAMPLER_KINDS).describe("which server answers"),
    urls: z
      .array(serverUrlSchema)
      .min(1)
      .readonly()
      .describe("base URLs; several are replicas of one model"),
    model: z.string().nullable().default(null).describe("model name; null = the first one served"),
    vocabSize: count
      .nullable()
      .default(null)
      .describe(
        "rows of the model's output (config.json's vocab_size), where the server does not tell",
      ),
    apiKeyEnv: variableNameSchema
      .nullable()
      .default(null)
      .describe(
        "environment variable that holds the API key; the key itself is never written down",
      ),
    headers: z
      .record(z.string(), z.string())
      .default({})
      .describe("extra request headers")
      .meta({ holds: "secret" }),
    tls: tlsSchema.optional(),
    maxInFlight: count.default(512).describe("requests in flight per server"),
    adaptive: z
      .boolean()
      .default(false)
      .describe("follow the server's metrics up to max_in_flight instead of starting there"),
    sampleTimeoutSeconds: seconds
      .default(600)
      .describe("time limit of one request, from when its slot is granted"),
    retry: retrySchema.prefault({}),
    updates: z
      .enum(["drain", "overlap"])
      .default("drain")
      .describe("whether requests go on while weights change"),
    weights: z.enum(["full", "lora"]).default("full").describe("what a weight update loads"),
  })
  .readonly();

export type SamplerOptions = z.output<typeof samplerOptionsSchema>;
export type SamplerOptionsInput = z.input<typeof samplerOptionsSchema>;
