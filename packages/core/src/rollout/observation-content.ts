/**
 * What the model gets to read of one run of its code (protocol-and-reward.md §3).
 * In: an execution result. Out: the text of the tool message, not yet cut to any token limit.
 * Knows nothing of tokens or templates.
 */
import type { Captured, ExecResult } from "../ports/sandbox.ts";

/** Stands, on a line of its own, for everything that was left out before it. */
export const TRUNCATION_LINE = "[... truncated ...]";

/** null = there is nothing to show: the run was cancelled and its trajectory settles `aborted`. */
export function observationContent(result: ExecResult): string | null {
  const printed = streamText(result.stdout);
  switch (result.status) {
    case "ok":
      return printed;
    case "error":
      return joinLines(printed, streamText(result.stderr) || exitLine(result));
    case "timeout":
    case "cpu_limit":
      return joinLines(
        printed,
        limitLine("Time limit", result.limit, (limit) => `${limit} s`),
      );
    case "memory_limit":
      return joinLines(printed, `Error: ${limitLine("memory limit", result.limit, formatBytes)}`);
    case "output_limit":
      return joinLines(printed, `Error: ${limitLine("output limit", result.limit, formatBytes)}`);
    case "killed":
      return joinLines(
        printed,
        result.signal === null
          ? "Error: process was killed."
          : `Error: process was killed by ${result.signal}.`,
      );
    case "cancelled":
      break;
  }
  return null;
}

/** All of a short stream; of a longer one the captured tail, behind the line that says so. */
function streamText(stream: Captured): string {
  if (stream.omittedBytes === 0) return stream.head;
  return `${TRUNCATION_LINE}\n${stream.tail}`;
}

function joinLines(before: string, line: string): string {
  return before === "" || before.endsWith("\n") ? before + line : `${before}\n${line}`;
}

function exitLine(result: ExecResult): string {
  return result.exitCode === null
    ? "Error: process ended without an exit code."
    : `Error: process exited with code ${result.exitCode}.`;
}

function limitLine(what: string, limit: number | null, format: (limit: number) => string): string {
  return limit === null ? `${what} reached.` : `${what} of ${format(limit)} reached.`;
}

function formatBytes(bytes: number): string {
  if (bytes > 0 && bytes % 1_048_576 === 0) return `${bytes / 1_048_576} MiB`;
  if (bytes > 0 && bytes % 1024 === 0) return `${bytes / 1024} KiB`;
  return `${bytes} bytes`;
}
