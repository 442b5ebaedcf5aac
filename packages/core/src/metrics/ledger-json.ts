/** `ledger.json`: the ledger in snake_case, and the way back. Refuses a file that is no ledger. */
import { z } from "zod";
import type { Ledger } from "./ledger.ts";

const count = z.int().min(0);
const counts = z.record(z.string(), count);
const balance = z.strictObject({ total: count, exported: count, dropped: counts });

const ledgerJsonSchema = z.strictObject({
  trajectories: balance,
  sampled_tokens: balance,
  terminations: counts,
  invalid_turns: counts,
  truncated_turns: count,
  truncated_observations: count,
  text_mismatches: count,
  sandbox_runs: z.strictObject({ joined: count, not_joined: count }),
  retries: counts,
});

export type LedgerJson = z.output<typeof ledgerJsonSchema>;

export function ledgerToJson(ledger: Ledger): LedgerJson {
  const { sandboxRuns } = ledger;
  return ledgerJsonSchema.parse({
    trajectories: ledger.trajectories,
    sampled_tokens: ledger.sampledTokens,
    terminations: ledger.terminations,
    invalid_turns: ledger.invalidTurns,
    truncated_turns: ledger.truncatedTurns,
    truncated_observations: ledger.truncatedObservations,
    text_mismatches: ledger.textMismatches,
    sandbox_runs: { joined: sandboxRuns.joined, not_joined: sandboxRuns.notJoined },
    retries: ledger.retries,
  });
}

/** Throws ZodError, which names the field, on anything that is no ledger. */
export function ledgerFromJson(json: unknown): Ledger {
  const read = ledgerJsonSchema.parse(json);
  return {
    trajectories: read.trajectories,
    sampledTokens: read.sampled_tokens,
    terminations: read.terminations,
    invalidTurns: read.invalid_turns,
    truncatedTurns: read.truncated_turns,
    truncatedObservations: read.truncated_observations,
    textMismatches: read.text_mismatches,
    sandboxRuns: { joined: read.sandbox_runs.joined, notJoined: read.sandbox_runs.not_joined },
    retries: read.retries,
  };
}
