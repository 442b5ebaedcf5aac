/**
 * In: turns as whole prompts and completions, as other engines record them. Out: tokens in segments.
 * Refuses a later prompt that does not extend the tokens so far: with what token drift does, a ratio means nothing.
 */
import { append, NO_TOKENS, sampledSegment, segment, type Tokens } from "../tokens/tokens.ts";

export type WholeTurn = {
  /** P_i: everything the model saw. */
  readonly prompt: Int32Array;
  /** C_i. */
  readonly completion: Int32Array;
  /** L_i, one per token of the completion. */
  readonly logprobs: Float32Array;
};

/** Throws RangeError with the turn (from 0) and the first position at which its prompt differs. */
export function joinTurns(turns: readonly WholeTurn[]): Tokens {
  let tokens = NO_TOKENS;
  let history: Int32Array = new Int32Array(0);
  for (const [turn, { prompt, completion, logprobs }] of turns.entries()) {
    const known = history.length;
    for (let i = 0; i < known; i++) {
      if (i >= prompt.length || prompt[i] !== history[i]) {
        const seen = i >= prompt.length ? "its end" : `token ${prompt[i]}`;
        throw new RangeError(
          `Turn ${turn}: expected a prompt that extends the ${known} tokens so far, got ${seen} instead of token ${history[i]} at position ${i}`,
        );
      }
    }
    const kind = turn === 0 ? "context" : "observed";
    tokens = append(tokens, segment(kind, prompt.slice(known)));
    tokens = append(tokens, sampledSegment(completion, logprobs));
    history = new Int32Array(prompt.length + completion.length);
    history.set(prompt);
    history.set(completion, prompt.length);
  }
  return tokens;
}
