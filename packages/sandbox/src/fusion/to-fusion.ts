import { constants } from "node:os";
import type { Captured, ExecResult, Failure } from "@interlace/core";
import type { ExactResult, RunCodeResponse } from "./wire.ts";

/** A result as SandboxFusion words it; with `exact`, also as it was. */
export function toFusion(answer: ExecResult | Failure, exact: boolean): RunCodeResponse {
  if (!answer.ok) return { status: "SandboxError", message: answer.detail, run_result: null };
  const { status, usage } = answer;
  const late = status === "timeout" || status === "cpu_limit";
  const run_result = {
    status: late ? "TimeLimitExceeded" : "Finished",
    execution_time: usage.wallSeconds,
    return_code: late ? null : returnCode(answer),
    stdout: oneText(answer.stdout),
    stderr: oneText(answer.stderr) + explanation(answer),
  } as const;
  const fine = { status: status === "ok" ? "Success" : "Failed", message: "" } as const;
  return exact ? { ...fine, run_result, interlace: exactResult(answer) } : { ...fine, run_result };
}

function returnCode(answer: ExecResult): number {
  if (answer.signal === null) return answer.exitCode ?? 1;
  const known: Readonly<Record<string, number>> = constants.signals;
  return -(known[answer.signal] ?? constants.signals.SIGKILL);
}

function oneText(captured: Captured): string {
  if (captured.omittedBytes === 0) return captured.head;
  return `${captured.head}\n[... ${captured.omittedBytes} bytes omitted ...]\n${captured.tail}`;
}

/** The protocol has no word for these endings: one line of text must do. */
function explanation(answer: ExecResult): string {
  switch (answer.status) {
    case "memory_limit":
      return `\nError: memory limit of ${answer.limit} bytes reached.\n`;
    case "output_limit":
      return `\nError: output limit of ${answer.limit} bytes reached.\n`;
    case "ok":
    case "error":
    case "timeout":
    case "cpu_limit":
    case "killed":
    case "cancelled":
      return "";
  }
}

function exactResult(answer: ExecResult): ExactResult {
  return {
    status: answer.status,
    exit_code: answer.exitCode,
    signal: answer.signal,
    limit: answer.limit,
    stdout: capturedWire(answer.stdout),
    stderr: capturedWire(answer.stderr),
    queued_seconds: answer.usage.queuedSeconds,
    cpu_seconds: answer.usage.cpuSeconds,
    peak_memory_bytes: answer.usage.peakMemoryBytes,
  };
}

function capturedWire(captured: Captured): ExactResult["stdout"] {
  const { head, tail, omittedBytes, totalBytes } = captured;
  return { head, tail, omitted_bytes: omittedBytes, total_bytes: totalBytes };
}
