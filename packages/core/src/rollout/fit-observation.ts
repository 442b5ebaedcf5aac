/**
 * Decides how much of an observation a trajectory can take (rollout.md §6).
 * In: the content, the room left. Out: the text as joined and its D_i, or that nothing fits.
 * Two limits at once: tokens of the content, and tokens of the whole next prompt.
 * Always terminates, and what is encoded follows what is kept, not what was printed.
 */
import type { Protocol } from "../protocol/protocol.ts";
import type { RolloutConfig } from "./config.ts";
import { TRUNCATION_LINE } from "./observation-content.ts";

export type FitLimits = Pick<
  RolloutConfig,
  "maxToolResponseTokens" | "maxTrajectoryTokens" | "minNextTurnTokens"
>;

export type FitRequest = {
  readonly content: string;
  /** C_i, the turn that asked for the run. */
  readonly completion: Int32Array;
  /** len(P_i), without the completion. */
  readonly promptLength: number;
  /** Observations joined to this trajectory before this one. */
  readonly toolStep: number;
};

export type FittedObservation =
  | {
      readonly fits: true;
      /** As joined: the whole content, or its tail behind the truncation line. */
      readonly content: string;
      /** D_i: what comes after P_i + C_i. */
      readonly delta: Int32Array;
      /** This function cut it (a stream cut while it was captured does not count). */
      readonly truncated: boolean;
    }
  | { readonly fits: false };

/** One trial: `excess` = tokens over the tighter limit, ≤ 0 = it fits and `delta` is there. */
type Trial = { readonly excess: number; readonly delta: Int32Array | null };

export function fitObservation(
  protocol: Protocol,
  limits: FitLimits,
  request: FitRequest,
): FittedObservation {
  const { content, completion, toolStep } = request;
  const room =
    limits.maxTrajectoryTokens -
    limits.minNextTurnTokens -
    request.promptLength -
    completion.length;
  if (room < 0) return { fits: false };

  const attempt = (text: string): Trial => {
    const over = protocol.countPlain(text) - limits.maxToolResponseTokens;
    if (over > 0) return { excess: over, delta: null };
    const delta = protocol.joinObservation(completion, text, toolStep);
    return { excess: Math.max(over, delta.length - room), delta };
  };

  // Code units a token takes near the end of the content: where the search begins.
  let density = overflowDensity(protocol, content, limits.maxToolResponseTokens);
  if (density === null) {
    const { excess, delta } = attempt(content);
    if (excess <= 0 && delta !== null) return { fits: true, content, delta, truncated: false };
    density = content.length / (limits.maxToolResponseTokens + excess);
  }
  return longestTail(content, Math.min(limits.maxToolResponseTokens, room) * density, attempt);
}

/**
 * Doubles a tail of the content until it is far over the limit (so the whole is over, too: a cut
 * changes the tokens next to it only), and gives that tail's code units per token. null = the tail
 * would become the whole, which is then worth encoding.
 */
function overflowDensity(protocol: Protocol, content: string, limit: number): number | null {
  const far = limit + (limit >> 3) + 32;
  for (let size = 4 * limit + 64; size < content.length; size *= 2) {
    const count = protocol.countPlain(tailOf(content, size));
    if (count > far) return size / count;
  }
  return null;
}

/**
 * Gallops from a tail of about `expected` code units, then narrows between the longest tail that fits
 * and the shortest that does not.
 */
function longestTail(
  content: string,
  expected: number,
  attempt: (text: string) => Trial,
): FittedObservation {
  const attemptTail = (size: number): Trial => attempt(behindLine(tailOf(content, size)));
  // Sizes are in code units; the shortest tail is one code point. A proper tail leaves something out.
  const shortest = lastCodePointLength(content);
  const longest = content.length - 1;
  if (shortest > longest) return { fits: false };

  let best = attemptTail(shortest);
  if (best.excess > 0) return { fits: false };
  let low = shortest;
  let high = longest + 1;
  // Unknown until a trial failed: then the crossing is guessed between the two ends.
  let excessHigh: number | null = null;
  let size = Math.max(shortest + 1, Math.floor(0.9 * expected));
  while (size <= longest) {
    const trial = attemptTail(size);
    if (trial.excess > 0) {
      high = size;
      excessHigh = trial.excess;
      break;
    }
    best = trial;
    low = size;
    size += Math.max(1, size >> 2);
  }

  let guessing = true;
  while (high - low > 1) {
    const width = high - low;
    size =
      guessing && excessHigh !== null
        ? crossing(low, high, best.excess, excessHigh)
        : low + (width >> 1);
    const trial = attemptTail(size);
    if (trial.excess > 0) {
      high = size;
      excessHigh = trial.excess;
    } else {
      best = trial;
      low = size;
    }
    // A guess that did not halve the bracket is followed by a bisection, so this ends in O(log n).
    guessing = high - low <= width / 2;
  }
  const delta = best.delta;
  if (delta === null) return { fits: false };
  return { fits: true, content: behindLine(tailOf(content, low)), delta, truncated: true };
}

/** A size strictly between the ends, where the excess should pass from 0 to 1. */
function crossing(low: number, high: number, excessLow: number, excessHigh: number): number {
  const share = (0.5 - excessLow) / (excessHigh - excessLow);
  return Math.min(high - 1, Math.max(low + 1, low + Math.round(share * (high - low))));
}

function behindLine(tail: string): string {
  return `${TRUNCATION_LINE}\n${tail}`;
}

/** The last `size` code units, one fewer where that would split a code point. */
function tailOf(content: string, size: number): string {
  const start = content.length - size;
  return content.slice(splitsPair(content, start) ? start + 1 : start);
}

function lastCodePointLength(content: string): number {
  return content.length >= 2 && splitsPair(content, content.length - 1) ? 2 : 1;
}

/** Is there a surrogate pair around `index`? */
function splitsPair(text: string, index: number): boolean {
  const after = text.charCodeAt(index);
  if (after < 0xdc00 || after > 0xdfff || index === 0) return false;
  const before = text.charCodeAt(index - 1);
  return before >= 0xd800 && before <= 0xdbff;
}
