/**
 * Soft punishment of answers that come near the limit (DAPO, Yu et al. 2025, eq. 13): nothing up to the buffer, then
 * linear to −1 at the limit. In: sampled tokens. Out: what is added to the reward, right or wrong.
 */
export type OverlongLimits = {
  /** Sampled tokens at which the punishment is −1. */
  readonly maxTokens: number;
  /** Tokens before it in which the punishment grows, 1 to `maxTokens`. */
  readonly bufferTokens: number;
};

/** In [−1, 0]. */
export function overlongPenalty(sampledTokens: number, limits: OverlongLimits): number {
  const { maxTokens, bufferTokens } = limits;
  if (!(bufferTokens >= 1 && bufferTokens <= maxTokens)) {
    throw new RangeError(
      `Expected a buffer of 1 to ${maxTokens} tokens, the limit, got ${bufferTokens}`,
    );
  }
  const over = sampledTokens - (maxTokens - bufferTokens);
  return over <= 0 ? 0 : -Math.min(1, over / bufferTokens);
}
