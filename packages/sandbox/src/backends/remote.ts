/**
 * A SandboxFusion-compatible service over HTTP: somebody else's machine runs the code.
 *
 * Contained: what the service contains. Our own servers tell, others do not, and then nothing is claimed.
 * Retries busy and failing services and lost connections, with jitter: code has no effect outside its
 * sandbox, so that running it twice does no harm.
 */

import { fail, type ExecResult, type Failure, type Isolation } from "@interlace/core";
import type { Backend, Job } from "../backend.ts";
import { fromFusion, requestOf } from "../fusion/from-fusion.ts";
import { healthSchema, runCodeResponseSchema } from "../fusion/wire.ts";
import { isolationOf, ISOLATION_LINES, type IsolationReport } from "../isolation.ts";
import { createReplicas, type Replica } from "./remote-replicas.ts";

export type RemoteOptions = {
  /** Addresses of the same service, without `/run_code`. */
  readonly urls: readonly string[];
  readonly token?: string;
  /** Tries of one run in all. Default 5. */
  readonly attempts?: number;
  /** Seconds that an answer may take beyond the run's wall clock: the service's own queue. Default 120. */
  readonly marginSeconds?: number;
  /** First pause between two tries in seconds, doubled each time, up to 10. Default 0.25. */
  readonly pauseSeconds?: number;
};

const BUSY: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const LONGEST_PAUSE_SECONDS = 10;

type Attempt =
  | { readonly kind: "answer"; readonly answer: ExecResult | Failure }
  | { readonly kind: "again"; readonly why: Failure; readonly afterSeconds: number };

export async function createRemoteBackend(options: RemoteOptions): Promise<Backend> {
  const { token, attempts = 5, marginSeconds = 120, pauseSeconds = 0.25 } = options;
  const replicas = createReplicas(options.urls, () => performance.now());
  const headers = {
    "content-type": "application/json",
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };

  async function execute(job: Job, signal: AbortSignal): Promise<ExecResult | Failure> {
    for (let attempt = 1; ; attempt += 1) {
      signal.throwIfAborted();
      const outcome = await attemptOn(replicas.pick(), job, signal);
      if (outcome.kind === "answer") return outcome.answer;
      if (attempt >= attempts) return outcome.why;
      const pause = Math.min(LONGEST_PAUSE_SECONDS, pauseSeconds * 2 ** (attempt - 1));
      await wait(Math.max(outcome.afterSeconds, pause * (0.5 + Math.random())), signal);
    }
  }

  async function attemptOn(replica: Replica, job: Job, signal: AbortSignal): Promise<Attempt> {
    const deadline = AbortSignal.timeout((job.limits.wallSeconds + marginSeconds) * 1000);
    replica.inFlight += 1;
    try {
      const response = await fetch(`${replica.url}/run_code`, {
        method: "POST",
        headers,
        body: JSON.stringify(requestOf(job)),
        signal: AbortSignal.any([signal, deadline]),
      });
      const text = await response.text();
      if (BUSY.has(response.status)) {
        if (response.status !== 429) replicas.failed(replica);
        return busy(replica, response);
      }
      replicas.succeeded(replica);
      return { kind: "answer", answer: read(replica, response.status, text, job) };
    } catch (error) {
      signal.throwIfAborted();
      replicas.failed(replica);
      const why = error instanceof Error ? error.message : String(error);
      const detail = `Expected an answer of ${replica.url}, but ${why}`;
      return { kind: "again", why: fail("sandbox", "unreachable", detail), afterSeconds: 0 };
    } finally {
      replica.inFlight -= 1;
    }
  }

  return {
    isolation: await askIsolation(options.urls, headers),
    execute,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

function busy(replica: Replica, response: Response): Attempt {
  const wished = Number(response.headers.get("retry-after") ?? 0);
  const afterSeconds = wished > 0 ? Math.min(wished, LONGEST_PAUSE_SECONDS) : 0;
  const detail = `Expected ${replica.url} to run code, but it answered ${response.status}; add services or lower the concurrency`;
  return { kind: "again", why: fail("sandbox", "overloaded", detail), afterSeconds };
}

function read(replica: Replica, status: number, text: string, job: Job): ExecResult | Failure {
  if (status !== 200) {
    const detail = `Expected ${replica.url} to answer 200, seen ${status}: ${text.slice(0, 200)}`;
    return fail("sandbox", "refused", detail);
  }
  const parsed = runCodeResponseSchema.safeParse(parseJson(text));
  if (parsed.success) return fromFusion(parsed.data, job.limits);
  const detail = `Expected ${replica.url} to answer as SandboxFusion does, seen: ${text.slice(0, 200)}`;
  return fail("sandbox", "bad_answer", detail);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The weakest of what the services claim of themselves: a run may land on any of them. */
async function askIsolation(
  urls: readonly string[],
  headers: Record<string, string>,
): Promise<Isolation> {
  const told = await Promise.all(urls.map((url) => ask(url.replace(/\/+$/, ""), headers)));
  const report = Object.fromEntries(
    ISOLATION_LINES.map((name) => {
      const weak = told
        .map((isolation) => isolation?.lines.find((line) => line.name === name))
        .find((line) => line?.holds !== true);
      const holds = told.every((isolation) =>
        isolation?.lines.some((line) => line.name === name && line.holds),
      );
      return [name, holds ? true : (weak?.why ?? "the service does not tell")];
    }),
  ) as IsolationReport;
  const levels = told.map((each) => (each === null ? "untold" : `${each.backend} ${each.level}`));
  return isolationOf("remote", [...new Set(levels)].join(", "), report);
}

async function ask(url: string, headers: Record<string, string>): Promise<Isolation | null> {
  try {
    const response = await fetch(`${url}/healthz`, { headers, signal: AbortSignal.timeout(5000) });
    const health = healthSchema.safeParse(await response.json());
    if (!health.success) return null;
    const { backend, level, lines } = health.data.isolation;
    return {
      backend,
      level,
      lines: lines.map(({ name, holds, why }) =>
        why === undefined ? { name, holds } : { name, holds, why },
      ),
    };
  } catch {
    return null; // another kind of service, or none yet: nothing is claimed for it
  }
}

function wait(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, seconds * 1000);
    signal.addEventListener("abort", stop, { once: true });
  });
}
