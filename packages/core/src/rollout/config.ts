import { z } from "zod";

const positive = z.int().min(1);
const nonNegative = z.int().min(0);

/** Limits, defaults and help texts of one rollout (rollout.md §2); TOML and flags use the snake_case names. */
export const rolloutConfigSchema = z
  .strictObject({
    groupSize: positive.default(8).describe("trajectories per problem"),
    maxCodeCalls: nonNegative.default(4).describe("observations joined to one trajectory"),
    maxAssistantTurns: positive.default(6).describe("generations of one trajectory"),
    maxTrajectoryTokens: positive
      .default(8192)
      .describe("prompt + completion of a whole trajectory"),
    maxAssistantTokens: positive.default(1024).describe("tokens of one generation"),
    maxToolResponseTokens: positive.default(512).describe("tokens of one observation's content"),
    temperature: z.number().min(0).default(1).describe("sampling temperature"),
    topP: z.number().gt(0).max(1).default(1).describe("nucleus sampling, 1 = off"),
    topK: positive.nullable().default(null).describe("top-k sampling, null = off"),
    seed: z
      .int()
      .min(0)
      .lt(2 ** 31)
      .default(42)
      .describe("seeds everything that is drawn"),
    seedScheme: z
      .enum(["hashed", "positional"])
      .default("hashed")
      .describe("how the seeds of requests derive from it"),
    observationReserveTokens: nonNegative
      .default(0)
      .describe("room kept for an observation while a call is still allowed"),
    minNextTurnTokens: nonNegative
      .default(1)
      .describe("room an observation must leave for the next turn"),
    strictText: z
      .boolean()
      .default(false)
      .describe("a server text that differs from its ids fails the trajectory"),
  })
  .readonly();

export type RolloutConfig = z.output<typeof rolloutConfigSchema>;
