/**
 * One `python3` per call, in a folder of its own.
 *
 * Contained: the environment, the wall clock, CPU time, address space, file size, open files, output,
 * left-over processes that keep their environment. NOT contained: reading the host's files, the network,
 * other processes of the same user, memory and disk in sum, the number of processes, system calls. For
 * code that nobody means to do harm with; the report says so line by line.
 */

import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ExecResult, Failure } from "@interlace/core";
import { sandboxError, type Backend, type Job } from "../backend.ts";
import { explain, isolationOf, type IsolationReport } from "../isolation.ts";
import { addressSpace, FIXED_LIMITS } from "../limits.ts";
import { cleanEnvironment, PYTHON_FLAGS, pythonFile } from "../python/environment.ts";
import type { Python } from "../python/find-python.ts";
import { removeTree } from "../remove-tree.ts";
import { startWarden } from "./process-warden.ts";
import { runCommand } from "./run-command.ts";

const REPORT: IsolationReport = {
  fresh_interpreter: true,
  clean_environment: true,
  private_files: "the folder of a call is open to other calls of the same user",
  no_host_read: "runs as the user of the engine",
  no_network: "runs in the host's network",
  private_processes: "runs among the host's processes",
  no_orphans: "a process that replaces its environment is not found",
  memory_per_process: process.platform === "linux" ? true : "only Linux limits the address space",
  memory_total: "no control group",
  process_count: "no control group",
  disk_total: "only single files are limited",
  syscall_filter: "none",
};

/** `insteadOf`: why a better backend could not be had, for the report. */
export async function createProcessBackend(python: Python, insteadOf?: string): Promise<Backend> {
  const root = await mkdtemp(join(tmpdir(), "interlace-sandbox-"));
  const mark = crypto.randomUUID();
  const warden = process.platform === "linux" ? await startWarden(python, mark, root) : null;
  const report = insteadOf === undefined ? REPORT : explain(REPORT, insteadOf);
  let calls = 0;

  async function execute(job: Job, signal: AbortSignal): Promise<ExecResult | Failure> {
    signal.throwIfAborted();
    calls += 1;
    const call = `${mark}.${calls}.`;
    const folder = join(root, String(calls));
    const home = join(folder, "home");
    try {
      await mkdir(home, { recursive: true, mode: 0o700 });
      await Bun.write(join(folder, "code"), job.code);
      await Bun.write(join(folder, "stdin"), job.stdin);
      const main = pythonFile("process_main.py");
      const command = {
        command: [python.executable, ...PYTHON_FLAGS, main, ...programArguments(folder, job)],
        cwd: home,
        env: { ...cleanEnvironment(home), INTERLACE_CALL: call },
        stdin: join(folder, "stdin"),
        tell: (child: { kill(signal: "SIGXCPU"): void }) => child.kill("SIGXCPU"),
        sweep: async () => warden?.sweep(call),
      };
      return await runCommand(command, job.limits, signal);
    } catch (error) {
      signal.throwIfAborted();
      return sandboxError(`The process of a call could not be run: ${String(error)}`);
    } finally {
      await removeTree(folder);
    }
  }

  function programArguments(folder: string, job: Job): string[] {
    return [
      join(folder, "code"),
      `cpu_seconds=${job.limits.cpuSeconds}`,
      ...(process.platform === "linux" ? [`address_space=${addressSpace(job.limits)}`] : []),
      `file_bytes=${FIXED_LIMITS.fileBytes}`,
      `open_files=${FIXED_LIMITS.openFiles}`,
      `auto_print=${job.autoPrint ? 1 : 0}`,
      "--",
      ...python.packages,
    ];
  }

  return {
    isolation: isolationOf("process", process.platform, report),
    execute,
    async [Symbol.asyncDispose]() {
      await warden?.[Symbol.asyncDispose]();
      await rm(root, { recursive: true, force: true });
    },
  };
}
