import type { Failure } from "./failure.ts";

export type ExecLimits = {
  /** Wall clock in seconds, from when the code starts. */
  readonly wallSeconds: number;
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
  /** Bytes kept at each end of each stream. */
  readonly keepBytes: number;
  /** Bytes of one stream past which the run is killed. */
  readonly maxOutputBytes: number;
};

export type ExecRequest = {
  /** Tool call id: `code-{question_index}-{group_index}-{code_calls + 1}`. */
  readonly id: string;
  readonly code: string;
  /** Absent = empty stdin. */
  readonly stdin?: string;
  readonly limits?: Partial<ExecLimits>;
};

/** One output stream, decoded as UTF-8 with errors replaced. `omittedBytes` 0: head is all there was. */
export type Captured = {
  readonly head: string;
  /** Empty unless something was omitted between head and tail. */
  readonly tail: string;
  readonly omittedBytes: number;
  readonly totalBytes: number;
};

export const EXEC_STATUSES = [
  "ok",
  "error",
  "timeout",
  "cpu_limit",
  "memory_limit",
  "output_limit",
  "killed",
  "cancelled",
] as const;
export type ExecStatus = (typeof EXEC_STATUSES)[number];

export type ExecUsage = {
  readonly queuedSeconds: number;
  readonly wallSeconds: number;
  /** null = not measured by this backend. */
  readonly cpuSeconds: number | null;
  readonly peakMemoryBytes: number | null;
};

export type ExecResult = {
  readonly ok: true;
  readonly status: ExecStatus;
  readonly exitCode: number | null;
  /** Name of the signal that ended it (`SIGSEGV`), null when it exited. */
  readonly signal: string | null;
  /** The limit that ended it: seconds for `timeout`/`cpu_limit`, bytes for `memory_limit`/`output_limit`, else null. */
  readonly limit: number | null;
  readonly stdout: Captured;
  readonly stderr: Captured;
  readonly usage: ExecUsage;
};

/** What is really enforced, line by line: true, false, or why not. */
export type Isolation = {
  readonly backend: string;
  readonly level: string;
  readonly lines: readonly {
    readonly name: string;
    readonly holds: boolean;
    readonly why?: string;
  }[];
};

/** Runs Python. Implemented in `sandbox`. Never rejects for anything that the code did. */
export interface Sandbox {
  isolation(): Isolation;
  /** `Failure` (boundary `sandbox`) only when the sandbox itself broke. Rejects only on abort. */
  run(request: ExecRequest, signal: AbortSignal): Promise<ExecResult | Failure>;
}

export function captured(text: string): Captured {
  const totalBytes = new TextEncoder().encode(text).length;
  return { head: text, tail: "", omittedBytes: 0, totalBytes };
}
