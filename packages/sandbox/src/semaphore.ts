/** Lets at most `slots` holders in at once, first come first served. */
export type Semaphore = {
  /** Resolves to a function that gives the slot back (once; later calls do nothing). Rejects on abort. */
  readonly acquire: (signal: AbortSignal) => Promise<() => void>;
  readonly waiting: () => number;
  readonly held: () => number;
};

export function createSemaphore(slots: number): Semaphore {
  if (!Number.isSafeInteger(slots) || slots < 1) {
    throw new RangeError(
      `Expected a concurrency of 1 or more, seen ${slots}; leave it out for one per core`,
    );
  }
  const queue = new Set<() => void>();
  let held = 0;

  function grant(): () => void {
    held += 1;
    let open = true;
    return () => {
      if (!open) return;
      open = false;
      held -= 1;
      const [next] = queue;
      next?.();
    };
  }

  function acquire(signal: AbortSignal): Promise<() => void> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (held < slots && queue.size === 0) return Promise.resolve(grant());
    return new Promise((resolve, reject) => {
      const leave = () => {
        queue.delete(enter);
        signal.removeEventListener("abort", abandon);
      };
      const enter = () => {
        leave();
        resolve(grant());
      };
      const abandon = () => {
        leave();
        reject(signal.reason);
      };
      queue.add(enter);
      signal.addEventListener("abort", abandon, { once: true });
    });
  }

  return { acquire, waiting: () => queue.size, held: () => held };
}
