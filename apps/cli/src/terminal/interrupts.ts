/** Ctrl-C once: a signal aborts, the work ends in order. Twice: the process stops at once. */
export type Interrupts = Disposable & {
  readonly signal: AbortSignal;
  /** `SIGINT` or `SIGTERM`; null = nobody interrupted. */
  readonly by: () => string | null;
};

/** As a shell reports a process that SIGINT ended. */
const STOPPED_AT_ONCE = 130;

export function listenForInterrupts(onFirst: () => void): Interrupts {
  const controller = new AbortController();
  let by: string | null = null;
  const listener = (name: NodeJS.Signals): void => {
    if (by !== null) process.exit(STOPPED_AT_ONCE);
    by = name;
    onFirst();
    controller.abort();
  };
  process.on("SIGINT", listener);
  process.on("SIGTERM", listener);
  return {
    signal: controller.signal,
    by: () => by,
    [Symbol.dispose]() {
      process.off("SIGINT", listener);
      process.off("SIGTERM", listener);
    },
  };
}
