/** What samples: a server, with the options of its client, or the policy in the box. */
import { SAMPLER_KINDS, samplerOptionsSchema, serverUrlSchema } from "@interlace/sampler-clients";
import { z } from "zod";

const server = samplerOptionsSchema.unwrap().omit({ kind: true, urls: true }).shape;

export const samplerSchema = z.strictObject({
  kind: z
    .enum(["embedded", ...SAMPLER_KINDS])
    .default("embedded")
    .describe("what samples"),
  url: z
    .union([serverUrlSchema, z.array(serverUrlSchema).min(1)])
    .nullable()
    .default(null)
    .describe("base URL of the server; several are replicas of one model"),
  tokenizer: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe(
      "the model's tokenizer and chat template: a folder, or a hub name like org/name@revision",
    ),
  ...server,
});
