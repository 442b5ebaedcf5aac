/**
 * The only place that retries. In: a backend. Out: the same, asked again where that is honest (`Trouble.again`), with
 * exponential back-off and full jitter, up to a budget for the whole run. Knows nothing of servers.
 */
import type { SampleRequest } from "@interlace/core";
import type { Answered, Backend } from "../backend.ts";
import type { Trouble } from "../trouble.ts";

export type RetryOptions = {
  /** Times that one request is sent at most, the first one included. */
  readonly attempts: number;
  readonly baseMs: number;
  readonly maxMs: number;
  /** Retries of the whole run. */
  readonly budget: number;
  /** In [0, 1). */
  readonly random: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Called before each wait. */
  readonly onRetry?: (retry: Retry) => void;
};

export type Retry = {
  readonly requestId: string;
  /** 1 for the first retry. */
  readonly retry: number;
  readonly waitMs: number;
  readonly trouble: Trouble;
};

export function retryRequests(backend: Backend, options: RetryOptions): Backend {
  let left = options.budget;
  async function sample(request: SampleRequest, signal: AbortSignal): Promise<Answered | Trouble> {
    for (let retry = 1; ; retry += 1) {
      const answer = await backend.sample(request, signal);
      if (answer.ok || answer.again === "never") return answer;
      if (retry >= options.attempts) return after(answer, `given up after ${retry} attempts`);
      if (left <= 0)
        return after(answer, `no retry: the run's budget of ${options.budget} is used`);
      left -= 1;
      const waitMs = backOff(retry, answer.afterMs, options);
      options.onRetry?.({ requestId: request.id, retry, waitMs, trouble: answer });
      await options.sleep(waitMs, signal);
    }
  }
  return { sample, healthy: backend.healthy };
}

/** Anywhere in [0, base · 2^(retry − 1)], so that a crowd does not come back at once; never before the server wishes. */
export function backOff(
  retry: number,
  afterMs: number | null,
  { baseMs, maxMs, random }: Pick<RetryOptions, "baseMs" | "maxMs" | "random">,
): number {
  const jittered = random() * Math.min(maxMs, baseMs * 2 ** (retry - 1));
  return (afterMs ?? 0) + jittered;
}

function after(answer: Trouble, why: string): Trouble {
  return { ...answer, again: "never", detail: `${answer.detail} (${why})` };
}
