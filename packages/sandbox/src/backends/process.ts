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
import type { Subprocess } from "bun";
import type { ExecResult, Failure } from "@interlace/core";
import { sandboxError, type Backend, type Job } from "../backend.ts";
import { classify, signalName, type Ending } from "../ending.ts";
import { isolationOf, type IsolationReport } from "../isolation.ts";
import { addressSpace, FIXED_LIMITS } from "../limits.ts";
import { cleanEnvironment, PYTHON_FLAGS, pythonFile } from "../python/environment.ts";
import type { Python } from "../python/find-python.ts";
import { readOutput } from "../read-output.ts";
import { removeTree } from "../remove-tree.ts";
import { startWarden } from "./process-warden.ts";

/** From "your time is up" to SIGKILL: for what is printed but not yet written. */
const GRACE_MS = 200;
/** After the last process is gone its pipes end; one that hid from the sweep must not hold us. */
const DRAIN_MS = 500;

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

export async function createProcessBackend(python: Python): Promise<Backend> {
  const root = await mkdtemp(join(tmpdir(), "interlace-sandbox-"));
  const mark = crypto.randomUUID();
  const warden = process.platform === "linux" ? await startWarden(python, mark, root) : null;
  let calls = 0;

  async function execute(job: Job, signal: AbortSignal): Promise<ExecResult | Failure> {
    signal.throwIfAborted();
    calls += 1;
    const call = `${mark}.${calls}.`;
    const folder = join(root, String(calls));
    try {
      const answer = await runIn(folder, call, job, signal);
      signal.throwIfAborted();
      return answer;
    } catch (error) {
      signal.throwIfAborted();
      return sandboxError(`The process of a call could not be run: ${String(error)}`);
    } finally {
      await removeTree(folder);
    }
  }

  async function runIn(
    folder: string,
    call: string,
    job: Job,
    signal: AbortSignal,
  ): Promise<ExecResult> {
    const { limits } = job;
    const home = join(folder, "home");
    await mkdir(home, { recursive: true, mode: 0o700 });
    await Bun.write(join(folder, "code"), job.code);
    await Bun.write(join(folder, "stdin"), job.stdin);
    signal.throwIfAborted();
    const started = performance.now();
    const child = Bun.spawn(
      [python.executable, ...PYTHON_FLAGS, pythonFile("process_main.py"), ...args(folder, job)],
      {
        cwd: home,
        env: { ...cleanEnvironment(home), INTERLACE_CALL: call },
        stdin: Bun.file(join(folder, "stdin")),
        stdout: "pipe",
        stderr: "pipe",
        detached: true,
      },
    );
    const reasons: NonNullable<Ending["killed"]>[] = []; // the first one counts
    const kill = (why: NonNullable<Ending["killed"]>) => {
      reasons.push(why);
      killGroup(child.pid);
    };
    const abort = () => killGroup(child.pid);
    signal.addEventListener("abort", abort, { once: true });
    const timers = [
      setTimeout(() => {
        reasons.push("timeout");
        child.kill("SIGXCPU");
      }, limits.wallSeconds * 1000),
      setTimeout(() => kill("timeout"), limits.wallSeconds * 1000 + GRACE_MS),
    ];
    const flooded = () => kill("output_limit");
    const streams = [child.stdout, child.stderr].map((stream) =>
      readOutput(stream, limits, flooded),
    );
    await child.exited;
    const wallSeconds = (performance.now() - started) / 1000;
    for (const timer of timers) clearTimeout(timer);
    signal.removeEventListener("abort", abort);
    killGroup(child.pid);
    await warden?.sweep(call);
    const drained = setTimeout(() => streams.forEach((stream) => stream.stop()), DRAIN_MS);
    await Promise.all(streams.map((stream) => stream.ended));
    clearTimeout(drained);
    // Its peak memory is not told: the counter starts at that of the engine which it was forked from.
    const used = child.resourceUsage();
    const cpuSeconds = used === undefined ? null : Number(used.cpuTime.total) / 1e6;
    const ending = endingOf(child, reasons[0] ?? null, cpuSeconds);
    return {
      ok: true,
      ...classify(ending, limits),
      stdout: streams[0]!.captured(),
      stderr: streams[1]!.captured(),
      usage: { queuedSeconds: 0, wallSeconds, cpuSeconds, peakMemoryBytes: null },
    };
  }

  function args(folder: string, job: Job): string[] {
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
    isolation: isolationOf("process", process.platform, REPORT),
    execute,
    async [Symbol.asyncDispose]() {
      await warden?.[Symbol.asyncDispose]();
      await rm(root, { recursive: true, force: true });
    },
  };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group has no member left.
  }
}

function endingOf(child: Subprocess, killed: Ending["killed"], cpuSeconds: number | null): Ending {
  const { exitCode, signalCode } = child;
  const signal = typeof signalCode === "number" ? signalName(signalCode) : signalCode;
  return { exitCode: signal === null ? exitCode : null, signal, killed, cpuSeconds };
}
