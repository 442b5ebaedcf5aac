/** Pulls problems into the driver as fast as it may hold them. In: a stream. Out: opened groups. */
import type { MathExample } from "../data/math-example.ts";
import type { Bell } from "./bell.ts";
import type { Driver } from "./driver.ts";

export type Problems = AsyncIterable<MathExample> | Iterable<MathExample>;

/** Resolves when the stream has ended or the signal aborts; rejects when the stream throws. */
export async function feed(
  driver: Driver,
  problems: Problems,
  options: { readonly mayOpen: () => boolean; readonly bell: Bell; readonly signal: AbortSignal },
): Promise<void> {
  const { mayOpen, bell, signal } = options;
  const source = iterate(problems);
  const aborted = Promise.withResolvers<null>();
  const onAbort = () => aborted.resolve(null);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    while (!signal.aborted) {
      const rung = bell.heard();
      if (!mayOpen()) {
        driver.setOpened(true);
        await rung; // an abort rings too
        continue;
      }
      driver.setOpened(false);
      // A stream that never answers must not keep an aborted rollout alive.
      const next = await Promise.race([source.next(), aborted.promise]);
      if (next === null || next.done === true) break;
      driver.open(next.value);
    }
    driver.setOpened(true);
  } finally {
    signal.removeEventListener("abort", onAbort);
    // Not awaited: a generator that is stuck in `next` never returns.
    Promise.resolve(source.return?.()).catch(() => {});
  }
}

function iterate(problems: Problems): AsyncIterator<MathExample> | Iterator<MathExample> {
  return Symbol.asyncIterator in problems
    ? problems[Symbol.asyncIterator]()
    : problems[Symbol.iterator]();
}
