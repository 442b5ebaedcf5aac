/** What the model reads of a run, status by status: each pinned. */
import { describe, expect, test } from "bun:test";
import {
  captured,
  EXEC_STATUSES,
  observationContent,
  type Captured,
  type ExecResult,
} from "../../src/index.ts";

function ran(changes: Partial<ExecResult>): ExecResult {
  return {
    ok: true,
    status: "ok",
    exitCode: 0,
    signal: null,
    limit: null,
    stdout: captured(""),
    stderr: captured(""),
    usage: { queuedSeconds: 0, wallSeconds: 0.25, cpuSeconds: null, peakMemoryBytes: null },
    ...changes,
  };
}

const cut = (head: string, tail: string): Captured => ({
  head,
  tail,
  omittedBytes: 1000,
  totalBytes: 1000 + head.length + tail.length,
});

const TRACEBACK =
  'Traceback (most recent call last):\n  File "<sandbox>", line 1, in <module>\nNameError: x\n';

describe("content", () => {
  test.each<readonly [string, Partial<ExecResult>, string]>([
    ["ok: stdout as it is", { stdout: captured("42\n") }, "42\n"],
    ["ok: nothing printed", { stderr: captured("a warning\n") }, ""],
    [
      "error: the whole traceback",
      { status: "error", exitCode: 1, stderr: captured(TRACEBACK) },
      TRACEBACK,
    ],
    [
      "error: what was printed comes before it",
      { status: "error", exitCode: 1, stdout: captured("1\n"), stderr: captured(TRACEBACK) },
      `1\n${TRACEBACK}`,
    ],
    [
      "error: a line break between, where there is none",
      { status: "error", exitCode: 1, stdout: captured("1"), stderr: captured(TRACEBACK) },
      `1\n${TRACEBACK}`,
    ],
    [
      "error: nothing on stderr",
      { status: "error", exitCode: 3 },
      "Error: process exited with code 3.",
    ],
    [
      "error: nothing on stderr after something printed",
      { status: "error", exitCode: 3, stdout: captured("1") },
      "1\nError: process exited with code 3.",
    ],
    ["timeout", { status: "timeout", exitCode: null, limit: 3 }, "Time limit of 3 s reached."],
    [
      "timeout: what was printed so far comes before",
      { status: "timeout", exitCode: null, limit: 0.5, stdout: captured("1\n2") },
      "1\n2\nTime limit of 0.5 s reached.",
    ],
    [
      "cpu limit: the same text",
      { status: "cpu_limit", exitCode: null, limit: 5, stdout: captured("1\n") },
      "1\nTime limit of 5 s reached.",
    ],
    [
      "memory limit",
      { status: "memory_limit", exitCode: 1, limit: 268435456, stdout: captured("1\n") },
      "1\nError: memory limit of 256 MiB reached.",
    ],
    [
      "output limit",
      { status: "output_limit", exitCode: null, limit: 65536, stdout: cut("a\n", "z") },
      "[... truncated ...]\nz\nError: output limit of 64 KiB reached.",
    ],
    [
      "output limit of an odd size",
      { status: "output_limit", exitCode: null, limit: 1000 },
      "Error: output limit of 1000 bytes reached.",
    ],
    [
      "killed",
      { status: "killed", exitCode: null, signal: "SIGSEGV" },
      "Error: process was killed by SIGSEGV.",
    ],
    [
      "killed by nobody knows what",
      { status: "killed", exitCode: null },
      "Error: process was killed.",
    ],
    [
      "a stream longer than kept: its tail behind the line",
      { stdout: cut("first\n", "last\n") },
      "[... truncated ...]\nlast\n",
    ],
    [
      "each stream for itself",
      {
        status: "error",
        exitCode: 1,
        stdout: captured("1\n"),
        stderr: cut("Trace", "NameError: x\n"),
      },
      "1\n[... truncated ...]\nNameError: x\n",
    ],
  ])("%s", (_name, changes, content) => {
    expect(observationContent(ran(changes))).toBe(content);
  });

  test("a cancelled run shows nothing", () => {
    expect(observationContent(ran({ status: "cancelled", stdout: captured("1\n") }))).toBe(null);
  });

  test("every other status shows a text", () => {
    for (const status of EXEC_STATUSES) {
      if (status !== "cancelled") expect(typeof observationContent(ran({ status }))).toBe("string");
    }
  });
});
