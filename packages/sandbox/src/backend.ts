import type { ExecLimits, ExecResult, Failure, Isolation } from "@interlace/core";

/** One run as a backend gets it: limits resolved, a slot granted. */
export type Job = {
  readonly id: string;
  readonly code: string;
  readonly stdin: string;
  readonly limits: ExecLimits;
  readonly autoPrint: boolean;
  /** A second try: with nothing that was made ahead, since what broke the first may have broken that too. */
  readonly fresh: boolean;
};

/**
 * One way to run Python. Knows nothing of slots, retries or totals: `createSandbox` wraps it.
 * `execute` answers with queuedSeconds 0, rejects only on abort, and by then nothing of the run lives.
 */
export type Backend = AsyncDisposable & {
  readonly isolation: Isolation;
  readonly execute: (job: Job, signal: AbortSignal) => Promise<ExecResult | Failure>;
};

/** The sandbox itself broke; never to be shown to the model nor scored against it. */
export function sandboxError(detail: string): Failure {
  return { ok: false, boundary: "sandbox", cause: "sandbox_error", detail };
}
