/** What a tool that costs nothing gives: a run that printed this, took no time, and ended well. */
import { captured, type ExecResult } from "../../packages/core/src/index.ts";

export function ranPrinting(stdout: string): ExecResult {
  return {
    ok: true,
    status: "ok",
    exitCode: 0,
    signal: null,
    limit: null,
    stdout: captured(stdout),
    stderr: captured(""),
    usage: { queuedSeconds: 0, wallSeconds: 0, cpuSeconds: 0, peakMemoryBytes: 0 },
  };
}
