/**
 * In: a graded member and its advantage. Out: the shifted, masked, per-token record that a learner trains on.
 * A projection, computed when wanted; it refuses to know rewards, groups and packing (datum.md §1).
 */
import type { Member } from "../rollout/group.ts";
import { isLogprob, LOGPROB_RANGE } from "../tokens/logprob.ts";

/** The five per-token arrays of a datum, equally long: position t predicts token t + 1 of the trajectory. */
export type DatumArrays = {
  /** full[0 : N − 1]. */
  readonly inputTokens: Int32Array;
  /** full[1 : N]; real also where nothing is learnt. */
  readonly targetTokens: Int32Array;
  /** log p of the target under the sampling policy; 0 where the mask is 0, never NaN. */
  readonly oldLogprobs: Float32Array;
  /** The trajectory's advantage, unscaled; 0 where the mask is 0. */
  readonly advantages: Float32Array;
  /** 1 where the target was sampled, else 0. */
  readonly lossMask: Uint8Array;
};

export type Datum = DatumArrays & {
  /** Tokens of the trajectory up to and including turn i: full[0 : turnEnds[i]] = P_i + C_i. Last one = N. */
  readonly turnEnds: Int32Array;
};

/** Why a trajectory gives no datum. */
export const NO_DATUM_REASONS = [
  "unscored",
  // Set aside with its whole group by dynamic sampling: outside the estimate and the mean over samples.
  "no_signal",
  // The same for a group of which too little came back (failure policy).
  "group_too_small",
  "zero_advantage",
  "no_completion_tokens",
  "over_max_context_tokens",
] as const;
export type NoDatumReason = (typeof NO_DATUM_REASONS)[number];

/** N − 1: tokens of the datum. Tokens joined after the last turn are no part of it. */
export function datumLength(member: Member): number {
  const last = member.turns.at(-1);
  return last === undefined ? 0 : Math.max(0, last.promptLength + last.length - 1);
}

/** `advantage` null = unscored. The first reason that applies, in the order of `NO_DATUM_REASONS`; null = a datum. */
export function findNoDatumReason(
  member: Member,
  advantage: number | null,
  maxContextTokens: number,
): NoDatumReason | null {
  if (advantage === null) return "unscored";
  if (advantage === 0) return "zero_advantage";
  // A token at position 0 of a trajectory is nobody's target.
  if (!member.turns.some((turn) => turn.length > 0 && turn.promptLength + turn.length > 1)) {
    return "no_completion_tokens";
  }
  return datumLength(member) > maxContextTokens ? "over_max_context_tokens" : null;
}

/**
 * The one way to make a datum out of arrays. Throws RangeError when lengths differ, when nothing is
 * masked in, or when turn ends do not rise to N.
 */
export function makeDatum(arrays: DatumArrays, turnEnds: Int32Array): Datum {
  const { inputTokens, targetTokens, oldLogprobs, advantages, lossMask } = arrays;
  const length = inputTokens.length;
  for (const [name, seen] of [
    ["target_tokens", targetTokens.length],
    ["old_logprobs", oldLogprobs.length],
    ["advantages", advantages.length],
    ["loss_mask", lossMask.length],
  ] as const) {
    if (seen !== length) {
      throw new RangeError(
        `Expected ${name} to be as long as input_tokens (${length}), got ${seen}`,
      );
    }
  }
  if (!lossMask.includes(1)) {
    throw new RangeError(
      `Expected at least one completion token among ${length} targets, got none`,
    );
  }
  let before = 0;
  for (const end of turnEnds) {
    if (end < before)
      throw new RangeError(`Expected turn ends that rise, got ${end} after ${before}`);
    before = end;
  }
  if (before !== length + 1) {
    throw new RangeError(`Expected the last turn to end after ${length + 1} tokens, got ${before}`);
  }
  return { inputTokens, targetTokens, oldLogprobs, advantages, lossMask, turnEnds };
}

/** Zero-filled arrays for `length` positions. */
export function allocateArrays(length: number): DatumArrays {
  return {
    inputTokens: new Int32Array(length),
    targetTokens: new Int32Array(length),
    oldLogprobs: new Float32Array(length),
    advantages: new Float32Array(length),
    lossMask: new Uint8Array(length),
  };
}

/** Positions `[start, end)` of the same memory. */
export function sliceArrays(arrays: DatumArrays, start: number, end: number): DatumArrays {
  return {
    inputTokens: arrays.inputTokens.subarray(start, end),
    targetTokens: arrays.targetTokens.subarray(start, end),
    oldLogprobs: arrays.oldLogprobs.subarray(start, end),
    advantages: arrays.advantages.subarray(start, end),
    lossMask: arrays.lossMask.subarray(start, end),
  };
}

/**
 * `into`: arrays of `datumLength(member)` positions, each of which is written; new ones when absent.
 * Throws when there is a reason for no datum, when turns do not extend the tokens so far, or when a
 * logprob is not finite and ≤ 0: each names the member and the turn.
 */
export function projectDatum(
  member: Member,
  advantage: number,
  maxContextTokens: number,
  into: DatumArrays = allocateArrays(datumLength(member)),
): Datum {
  const where = `Member ${member.index}`;
  if (!Number.isFinite(advantage)) {
    throw new RangeError(`${where}: expected a finite advantage, got ${advantage}`);
  }
  const reason = findNoDatumReason(member, advantage, maxContextTokens);
  if (reason !== null) {
    throw new RangeError(
      `${where} gives no datum: ${reason} (advantage ${advantage}, ${datumLength(member)} tokens, at most ${maxContextTokens})`,
    );
  }
  const { inputTokens, targetTokens, oldLogprobs, advantages, lossMask } = into;
  const turnEnds = new Int32Array(member.turns.length);
  let turn = 0;
  let at = 0;
  for (const { kind, ids, logprobs } of member.tokens.segments) {
    // What was joined after the last turn is no one's context.
    if (turn === member.turns.length) break;
    // Positions whose targets the segment is; the token at position 0 has no predecessor, so it is no target.
    const skip = at === 0 ? 1 : 0;
    const from = at - 1 + skip;
    const to = Math.max(from, at - 1 + ids.length);
    if (kind === "sampled") {
      const expected = member.turns[turn];
      if (expected?.promptLength !== at || expected.length !== ids.length || logprobs === null) {
        throw new RangeError(
          `${where}, turn ${turn}: expected a prompt of ${at} tokens and ${ids.length} sampled ones, as in its tokens, ` +
            `got ${expected?.promptLength} and ${expected?.length}; its prompt does not extend the tokens so far`,
        );
      }
      checkLogprobs(logprobs, `${where}, turn ${turn}`);
      oldLogprobs.set(skip === 0 ? logprobs : logprobs.subarray(skip), from);
      advantages.fill(advantage, from, to);
      lossMask.fill(1, from, to);
      turnEnds[turn] = at + ids.length;
      turn += 1;
    } else {
      oldLogprobs.fill(0, from, to);
      advantages.fill(0, from, to);
      lossMask.fill(0, from, to);
    }
    targetTokens.set(skip === 0 ? ids : ids.subarray(skip), from);
    if (at === 0 && ids.length > 0) inputTokens[0] = ids[0] as number;
    at += ids.length;
  }
  // One copy of what has just been written, instead of a second one of every segment.
  inputTokens.set(targetTokens.subarray(0, -1), 1);
  return makeDatum(into, turnEnds);
}

function checkLogprobs(logprobs: Float32Array, where: string): void {
  for (let i = 0; i < logprobs.length; i++) {
    const value = logprobs[i] ?? NaN;
    if (!isLogprob(value)) {
      throw new RangeError(`${where}: expected ${LOGPROB_RANGE}, got ${value} at position ${i}`);
    }
  }
}
