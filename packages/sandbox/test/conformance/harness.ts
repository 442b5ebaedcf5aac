import type { ExecRequest, ExecResult, Isolation } from "@interlace/core";
import type { IsolationLine, LocalOptions, OwnedSandbox } from "../../src/index.ts";

/** One implementation under test: what the suites of this folder need to know of it. */
export type Subject = {
  readonly name: string;
  /** A new sandbox, with these options where they apply; disposed of by the suite. */
  readonly make: (options?: Partial<LocalOptions>) => Promise<OwnedSandbox>;
  /** What it claims: suites skip, visibly, what it does not. */
  readonly isolation: Isolation;
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

/** Fills in the claims by making one and asking it. */
export async function prepareSubject(subject: Omit<Subject, "isolation">): Promise<Subject> {
  await using sandbox = await subject.make();
  return { ...subject, isolation: sandbox.isolation() };
}

export function claims(subject: Subject, line: IsolationLine | undefined): boolean {
  if (line === undefined) return true;
  return subject.isolation.lines.some((each) => each.name === line && each.holds);
}

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
