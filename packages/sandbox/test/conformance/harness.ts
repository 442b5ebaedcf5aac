import type { ExecRequest, ExecResult } from "@interlace/core";
import type { LocalOptions, OwnedSandbox } from "../../src/index.ts";

/** One implementation under test: what the suites of this folder need to know of it. */
export type Subject = {
  readonly name: string;
  /** A new sandbox, with these options where they apply; disposed of by the suite. */
  readonly make: (options?: Partial<LocalOptions>) => Promise<OwnedSandbox>;
  /** The interpreter it uses, for the oracle. */
  readonly python: string;
  /** Whether that interpreter has numpy and sympy. */
  readonly libraries: boolean;
  /**
   * The program is process 1 of its own namespace: a signal with default action that it sends to
   * itself does nothing, and `os.abort()` ends it by SIGSEGV.
   */
  readonly isFirstProcess?: boolean;
  /** Calls have no shared memory of their own, so processes cannot share locks and queues. */
  readonly hasNoSharedMemory?: boolean;
};

export const NEVER: AbortSignal = new AbortController().signal;

let calls = 0;

/** Runs and expects a result of the code; a `Failure` fails the test with its detail. */
export async function exec(
  sandbox: OwnedSandbox,
  code: string,
  request: Partial<ExecRequest> = {},
): Promise<ExecResult> {
  calls += 1;
  const answer = await sandbox.run({ id: `code-0-0-${calls}`, code, ...request }, NEVER);
  if (!answer.ok) throw new Error(`Expected a result, seen a failure: ${answer.detail}`);
  return answer;
}
