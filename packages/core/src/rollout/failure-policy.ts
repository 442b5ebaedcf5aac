/**
 * What is done when something fails: small numbers with the spec's defaults, in one place. Time limits belong to the
 * stage that has them: a request to its sampler, a tool call to its sandbox, a verdict to its grader.
 */
import { z } from "zod";

export const failurePolicySchema = z.strictObject({
  maxFailedFraction: z
    .number()
    .min(0)
    .max(1)
    .default(0.5)
    .describe("share of trajectories that may be lost to infrastructure before a batch fails"),
  minScored: z
    .int()
    .min(1)
    .default(1)
    .describe("scored trajectories that a group needs; one with fewer is set aside whole"),
  overLongPrompts: z
    .enum(["settle", "refuse"])
    .default("settle")
    .describe(
      "a first prompt that leaves no token: settle = its trajectories end prompt_over_budget, refuse = nothing starts",
    ),
});

export type FailurePolicy = Readonly<z.output<typeof failurePolicySchema>>;

export const DEFAULT_FAILURE_POLICY: FailurePolicy = failurePolicySchema.parse({});
