/** Ctrl-C once: a signal aborts, the work ends in order. Twice: the process stops at once. */
export type Interrupts = Disposable & {
  readonly signal: AbortSignal;
  /** `SIGINT` or `SIGTERM`; null = nobody interrupted. */
  readonly by: () => string | null;
};

/** As a shell reports a process that SIGINT ended. */
const STOPPED_AT_ONCE = 130;

/** One Ctrl-C or `timeout` arrives several times: each process above this one passes its own on. */
const SAME_EVENT_MS = 300;

/** `now` in milliseconds and `exit` are this process's own. */
export function listenForInterrupts(
  onFirst: () => void,
  now: () => number = () => performance.now(),
  exit: (code: number) => void = (code) => process.exit(code),
): Interrupts {
  const controller = new AbortController();
  let by: string | null = null;
  let since = 0;
  const listener = (name: NodeJS.Signals): void => {
    if (by !== null) {
      if (now() - since > SAME_EVENT_MS) exit(STOPPED_AT_ONCE);
      return;
    }
    by = name;
    since = now();
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
