/**
 * An error that a person can act on: what was expected, what was seen, what to do. It is printed without a
 * stack trace. `exitCode` 2: wrong use, nothing was started; 1: the work failed.
 */
export class PersonError extends Error {
  override readonly name = "PersonError";
  readonly exitCode: 1 | 2;

  constructor(message: string, exitCode: 1 | 2, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** Wrong use: refused before any work. */
export function wrongUse(message: string, cause?: unknown): PersonError {
  return new PersonError(message, 2, { cause });
}

/** The work failed. */
export function workFailed(message: string, cause?: unknown): PersonError {
  return new PersonError(message, 1, { cause });
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
