/** How many tokens the next turn may have (rollout.md §4, faults 2 and 4). */
import type { RolloutConfig } from "./config.ts";

export type BudgetState = {
  /** len(P) of the request. */
  readonly promptLength: number;
  readonly codeCalls: number;
  /** Turns recorded so far. */
  readonly turns: number;
};

/** A turn that ends with `turns` recorded turns and calls the tool: may the call run? */
export function canCode(config: RolloutConfig, codeCalls: number, turns: number): boolean {
  return codeCalls < config.maxCodeCalls && turns < config.maxAssistantTurns;
}

/** `max_tokens` of the next request, or 0 when the trajectory budget leaves nothing. */
export function turnBudget(config: RolloutConfig, state: BudgetState): number {
  const room = config.maxTrajectoryTokens - state.promptLength;
  if (room <= 0) return 0;
  const reserve = canCode(config, state.codeCalls, state.turns + 1)
    ? config.observationReserveTokens
    : 0;
  // A reserve that would leave no token never ends a trajectory: it is ignored.
  const kept = room - reserve > 0 ? room - reserve : room;
  return Math.min(config.maxAssistantTokens, kept);
}
