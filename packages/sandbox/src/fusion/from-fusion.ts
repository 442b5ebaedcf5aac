import type { Captured, ExecLimits, ExecResult, Failure } from "@interlace/core";
import { sandboxError, type Job } from "../backend.ts";
import { createCapture } from "../capture.ts";
import { signalName } from "../ending.ts";
import type { ExactResult, RunCodeRequest, RunCodeResponse } from "./wire.ts";

/** A run as a request; SandboxFusion counts memory in whole megabytes. */
export function requestOf(job: Job): RunCodeRequest {
  const { wallSeconds, cpuSeconds, memoryBytes, keepBytes, maxOutputBytes } = job.limits;
  return {
    code: job.code,
    language: "python",
    run_timeout: wallSeconds,
    memory_limit_MB: Math.ceil(memoryBytes / 1024 ** 2),
    stdin: job.stdin,
    files: {},
    fetch_files: [],
    interlace: {
      cpu_seconds: cpuSeconds,
      keep_bytes: keepBytes,
      max_output_bytes: maxOutputBytes,
    },
  };
}

export function fromFusion(response: RunCodeResponse, limits: ExecLimits): ExecResult | Failure {
  const { status, run_result: run, message } = response;
  if (status === "SandboxError" || run === null || run === undefined || run.status === "Error") {
    return sandboxError(message || run?.stderr || "the service says SandboxError and no more");
  }
  const wallSeconds = run.execution_time ?? 0;
  if (response.interlace !== undefined) return exactly(response.interlace, wallSeconds);
  const late = run.status === "TimeLimitExceeded";
  const code = run.return_code ?? null;
  const signal = code !== null && code < 0 ? signalName(-code) : null;
  return {
    ok: true,
    status: late ? "timeout" : signal !== null ? "killed" : code === 0 ? "ok" : "error",
    exitCode: late || signal !== null ? null : code,
    signal,
    limit: late ? limits.wallSeconds : null,
    stdout: captureText(run.stdout ?? "", limits),
    stderr: captureText(run.stderr ?? "", limits),
    usage: { queuedSeconds: 0, wallSeconds, cpuSeconds: null, peakMemoryBytes: null },
  };
}

function exactly(exact: ExactResult, wallSeconds: number): ExecResult {
  return {
    ok: true,
    status: exact.status,
    exitCode: exact.exit_code,
    signal: exact.signal,
    limit: exact.limit,
    stdout: capturedOf(exact.stdout),
    stderr: capturedOf(exact.stderr),
    usage: {
      queuedSeconds: exact.queued_seconds,
      wallSeconds,
      cpuSeconds: exact.cpu_seconds,
      peakMemoryBytes: exact.peak_memory_bytes,
    },
  };
}

function capturedOf(wire: ExactResult["stdout"]): Captured {
  const { head, tail, omitted_bytes: omittedBytes, total_bytes: totalBytes } = wire;
  return { head, tail, omittedBytes, totalBytes };
}

function captureText(text: string, limits: ExecLimits): Captured {
  const capture = createCapture(limits.keepBytes);
  capture.push(new TextEncoder().encode(text));
  return capture.finish();
}
