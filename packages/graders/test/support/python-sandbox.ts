/** A sandbox that contains nothing, for tests of what is asked of one: `python3` on a file, a wall clock, an exit code. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { captured, type ExecResult, type Sandbox } from "@interlace/core";

export function pythonSandbox(wallSeconds = 20): Sandbox & { readonly runs: () => number } {
  let runs = 0;
  return {
    runs: () => runs,
    isolation: () => ({ backend: "test", level: "none", lines: [] }),
    async run({ code, stdin = "", limits }, signal): Promise<ExecResult> {
      signal.throwIfAborted();
      runs += 1;
      const folder = mkdtempSync(join(tmpdir(), "interlace-code-"));
      const file = join(folder, "program.py");
      writeFileSync(file, code);
      const limit = limits?.wallSeconds ?? wallSeconds;
      const child = Bun.spawn(["python3", file], {
        stdin: new TextEncoder().encode(stdin),
        stdout: "pipe",
        stderr: "pipe",
        timeout: limit * 1000,
        killSignal: "SIGKILL",
      });
      const [out, err, code_] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
        child.exited,
      ]);
      rmSync(folder, { recursive: true });
      const isLate = child.signalCode === "SIGKILL";
      return {
        ok: true,
        status: isLate ? "timeout" : code_ === 0 ? "ok" : "error",
        exitCode: isLate ? null : code_,
        signal: null,
        limit: isLate ? limit : null,
        stdout: captured(out),
        stderr: captured(err),
        usage: { queuedSeconds: 0, wallSeconds: 0.01, cpuSeconds: null, peakMemoryBytes: null },
      };
    },
  };
}
