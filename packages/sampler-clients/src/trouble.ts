/**
 * What goes wrong between a request and its sequences, as data. In: what a server or the wire did. Out: a
 * record that says what to count it as and whether asking again is honest. Knows no kind of server.
 */
import { fail, type Failure } from "@interlace/core";

/** The causes of `samplers.md` §1. */
export const SAMPLER_CAUSES = [
  "invalid_tokens",
  "invalid_logprobs",
  "drift",
  "server_error",
  "incomplete",
  "refused",
] as const;
export type SamplerCause = (typeof SAMPLER_CAUSES)[number];

/** A whole request that gave no sequences. */
export type Trouble = {
  readonly ok: false;
  readonly cause: SamplerCause;
  /** One sentence: what was expected, what was seen. */
  readonly detail: string;
  /**
   * Whether asking again is honest. `never`: it would repeat, or the outcome may depend on what was sampled
   * (a second draw would bias the sample).
   */
  readonly again: "yes" | "never";
  /** The server's own wish (Retry-After), milliseconds; null = none. */
  readonly afterMs: number | null;
  /** Counts against the health of the replica. */
  readonly unhealthy: boolean;
};

export function trouble(
  cause: SamplerCause,
  detail: string,
  rest: Partial<Pick<Trouble, "again" | "afterMs" | "unhealthy">> = {},
): Trouble {
  return { ok: false, cause, detail, again: "never", afterMs: null, unhealthy: false, ...rest };
}

export function samplerFailure(cause: SamplerCause, detail: string): Failure {
  return fail("sampler", cause, detail);
}

/** The same failure for each of `samples` sequences. */
export function failEach(samples: number, { cause, detail }: Trouble): readonly Failure[] {
  return Array.from({ length: samples }, () => samplerFailure(cause, detail));
}
