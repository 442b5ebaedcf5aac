import type { ExecResult, Failure } from "@interlace/core";

/** Running totals of one sandbox since it was made. */
export type SandboxStatistics = {
  /** Runs that ended in a result of the code: `ok` + `timeouts` + `errors`. */
  readonly calls: number;
  readonly ok: number;
  /** `timeout` and `cpu_limit`. */
  readonly timeouts: number;
  /** Every other status of the code. */
  readonly errors: number;
  /** Runs that the sandbox itself failed, after its retry; not among `calls`. */
  readonly sandboxErrors: number;
  /** Runs that were repeated on a fresh worker. */
  readonly retries: number;
  /** Aborted by the caller or cancelled by a remote service; not among `calls`. */
  readonly cancelled: number;
  readonly runSeconds: number;
  readonly queuedSeconds: number;
};

export const NO_STATISTICS: SandboxStatistics = {
  calls: 0,
  ok: 0,
  timeouts: 0,
  errors: 0,
  sandboxErrors: 0,
  retries: 0,
  cancelled: 0,
  runSeconds: 0,
  queuedSeconds: 0,
};

/** Shares are 0 without calls; times are means in seconds over `calls`. */
export type SandboxRates = {
  readonly calls: number;
  readonly okRate: number;
  readonly timeoutRate: number;
  readonly errorRate: number;
  readonly runSeconds: number;
  readonly queuedSeconds: number;
  readonly sandboxErrors: number;
  readonly cancelled: number;
};

/** What one answer adds to the totals. */
export function count(totals: SandboxStatistics, answer: ExecResult | Failure): SandboxStatistics {
  if (!answer.ok) return { ...totals, sandboxErrors: totals.sandboxErrors + 1 };
  const { status, usage } = answer;
  if (status === "cancelled") return { ...totals, cancelled: totals.cancelled + 1 };
  const timeout = status === "timeout" || status === "cpu_limit";
  return {
    ...totals,
    calls: totals.calls + 1,
    ok: totals.ok + (status === "ok" ? 1 : 0),
    timeouts: totals.timeouts + (timeout ? 1 : 0),
    errors: totals.errors + (status === "ok" || timeout ? 0 : 1),
    runSeconds: totals.runSeconds + usage.wallSeconds,
    queuedSeconds: totals.queuedSeconds + usage.queuedSeconds,
  };
}

/** What happened between two readings, say over one step. */
export function ratesBetween(before: SandboxStatistics, after: SandboxStatistics): SandboxRates {
  const calls = after.calls - before.calls;
  const mean = (sum: number) => (calls === 0 ? 0 : sum / calls);
  return {
    calls,
    okRate: mean(after.ok - before.ok),
    timeoutRate: mean(after.timeouts - before.timeouts),
    errorRate: mean(after.errors - before.errors),
    runSeconds: mean(after.runSeconds - before.runSeconds),
    queuedSeconds: mean(after.queuedSeconds - before.queuedSeconds),
    sandboxErrors: after.sandboxErrors - before.sandboxErrors,
    cancelled: after.cancelled - before.cancelled,
  };
}
