/** A user's callback must never end a rollout: it is called, not awaited, and told once when it throws. */
export type Shield = <A extends readonly unknown[]>(
  callback: ((...args: A) => void) | undefined,
) => (...args: A) => void;

export function createShield(warn: (message: string) => void): Shield {
  let hasWarned = false;
  const report = (error: unknown) => {
    if (hasWarned) return;
    hasWarned = true;
    const reason = error instanceof Error ? error.message : String(error);
    warn(`A rollout callback threw, the rollout goes on: ${reason}`);
  };
  return (callback) => {
    if (callback === undefined) return () => {};
    return (...args) => {
      try {
        // `void` callbacks may still return a promise; its rejection must not end the process.
        const result: unknown = callback(...args);
        if (result instanceof Promise) result.catch(report);
      } catch (error) {
        report(error);
      }
    };
  };
}
