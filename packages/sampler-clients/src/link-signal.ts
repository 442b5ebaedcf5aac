/**
 * One signal out of a caller's signal and a time limit, without leaving a listener behind: callers pass one
 * signal for a whole run, and thousands of requests hang on it.
 */
export type LinkedSignal = Disposable & {
  readonly signal: AbortSignal;
  /** The time limit ran out, and not the caller's patience. */
  timedOut(): boolean;
};

export function linkSignal(parent: AbortSignal, limitMs: number): LinkedSignal {
  const controller = new AbortController();
  let late = false;
  const stop = (): void => controller.abort(parent.reason);
  if (parent.aborted) stop();
  else parent.addEventListener("abort", stop, { once: true });
  const timer = setTimeout(() => {
    late = true;
    controller.abort(new DOMException("The time limit ran out", "TimeoutError"));
  }, limitMs);
  return {
    signal: controller.signal,
    timedOut: () => late,
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      parent.removeEventListener("abort", stop);
    },
  };
}

/** Rejects with the signal's reason on abort. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    signal.addEventListener("abort", stop, { once: true });
  });
}
