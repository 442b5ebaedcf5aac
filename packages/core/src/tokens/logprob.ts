/** The one rule for a logprob of a sampled token (samplers.md §1). */

/** Rounding on a server may leave this much above 0. */
export const LOGPROB_CEILING = 1e-4;
/** What some servers write where they have none; this and less is no measurement. */
export const LOGPROB_FLOOR = -9999;
/** For messages. */
export const LOGPROB_RANGE = `${LOGPROB_FLOOR} < logprob ≤ ${LOGPROB_CEILING}`;

/** NaN and the infinities are none. */
export function isLogprob(value: number): boolean {
  return value <= LOGPROB_CEILING && value > LOGPROB_FLOOR;
}
