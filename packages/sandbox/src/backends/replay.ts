import { fail, type ExecResult, type Failure } from "@interlace/core";
import type { Backend, Job } from "../backend.ts";
import { isolationOf, ISOLATION_LINES, type IsolationReport } from "../isolation.ts";

const REPORT = Object.fromEntries(
  ISOLATION_LINES.map((name) => [name, true]),
) as unknown as IsolationReport;

/** Answers from recorded results, by call id; runs nothing, so everything is contained. */
export function createReplayBackend(recorded: ReadonlyMap<string, ExecResult | Failure>): Backend {
  return {
    isolation: isolationOf("replay", "recorded", REPORT),
    execute(job: Job, signal: AbortSignal) {
      if (signal.aborted) return Promise.reject(signal.reason);
      const missing = () =>
        fail(
          "sandbox",
          "not_recorded",
          `Expected a recorded result of call ${job.id}, found none among ${recorded.size}; record the run again`,
        );
      return Promise.resolve(recorded.get(job.id) ?? missing());
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
