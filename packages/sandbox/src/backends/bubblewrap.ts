/**
 * One `bwrap` per call around a real `python3`: for another interpreter each time, or by choice.
 *
 * Contained: files, network, other processes, left-overs, memory per process, the number of processes,
 * bytes on disk, system calls that open the kernel. NOT contained: memory in sum (no control group), the
 * number of files; bugs of the kernel. A program that exits with 128 + N is taken for one that signal N ended: bwrap tells no more.
 */

import { existsSync, readFileSync } from "node:fs";
import { chmod, chown, cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import type { ExecResult, Failure } from "@interlace/core";
import { sandboxError, type Backend, type Job } from "../backend.ts";
import { signalName, type Ending } from "../ending.ts";
import { isolationOf, type IsolationReport } from "../isolation.ts";
import { addressSpace, FIXED_LIMITS } from "../limits.ts";
import { cleanEnvironment, PYTHON_FLAGS, pythonFile } from "../python/environment.ts";
import type { Python } from "../python/find-python.ts";
import { foldersPythonNeeds, topLink } from "../python/needed-folders.ts";
import { removeTree } from "../remove-tree.ts";
import { startWarden } from "./process-warden.ts";
import { runCommand } from "./run-command.ts";

const REPORT: IsolationReport = {
  fresh_interpreter: true,
  clean_environment: true,
  private_files: true,
  no_host_read: true,
  no_network: true,
  private_processes: true,
  no_orphans: true,
  memory_per_process: true,
  memory_total: "no control group",
  process_count: true,
  disk_total: "bytes are limited, the number of files is not",
  syscall_filter: true,
};

/** Root's calls become this host user first: the kernel counts root's processes against no limit. */
const PLAIN_USER = 203_000;
const DEVICES = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
/** Signals that end a program, as `128 + N` shows them; 130 is a program's own Ctrl-C. */
const FATAL = [
  "SIGILL",
  "SIGTRAP",
  "SIGABRT",
  "SIGBUS",
  "SIGFPE",
  "SIGKILL",
  "SIGSEGV",
  "SIGTERM",
  "SIGSYS",
] as const;

export async function createBubblewrapBackend(python: Python): Promise<Backend> {
  const bwrap = need("bwrap", "bubblewrap");
  const asRoot = process.getuid?.() === 0;
  const prefix = asRoot ? dropTo(PLAIN_USER) : [];
  const root = await mkdtemp(join(tmpdir(), "interlace-bwrap-"));
  // A copy, where the plain user may read it whatever folder this package lies in.
  await cp(pythonFile("interlace_child"), join(root, "python/interlace_child"), {
    recursive: true,
  });
  await cp(pythonFile("process_main.py"), join(root, "python/process_main.py"));
  await chmod(root, 0o755);
  const jail = jailArguments(python, join(root, "python"));
  // bwrap dies with its parent, unless that dies in the moment before bwrap asks for it.
  const mark = crypto.randomUUID();
  const warden = await startWarden(python, mark, root);
  let calls = 0;

  async function execute(job: Job, signal: AbortSignal): Promise<ExecResult | Failure> {
    signal.throwIfAborted();
    calls += 1;
    const call = calls;
    const folder = join(root, String(call));
    try {
      await mkdir(folder, { mode: 0o700 });
      await Bun.write(join(folder, "code"), job.code);
      await Bun.write(join(folder, "stdin"), job.stdin);
      if (asRoot) for (const path of ["", "code", "stdin"]) await give(join(folder, path));
      const code = ["--ro-bind", join(folder, "code"), "/run/code"];
      const command = {
        command: [...prefix, bwrap, ...jail, ...code, "--remount-ro", "/", ...program(job)],
        cwd: "/",
        env: { ...cleanEnvironment("/tmp"), INTERLACE_CALL: `${mark}.${call}.` },
        stdin: join(folder, "stdin"),
        tell: (child: { readonly pid: number }) => tellProgram(child.pid),
        sweep: () => Promise.resolve(), // the namespace ended with its first process
        unwrap,
      };
      return await runCommand(command, job.limits, signal);
    } catch (error) {
      signal.throwIfAborted();
      return sandboxError(`bwrap could not be run: ${String(error)}`);
    } finally {
      await removeTree(folder);
    }
  }

  function program(job: Job): string[] {
    return [
      python.executable,
      ...PYTHON_FLAGS,
      "/run/python/process_main.py",
      "/run/code",
      `cpu_seconds=${job.limits.cpuSeconds}`,
      `address_space=${addressSpace(job.limits)}`,
      `file_bytes=${FIXED_LIMITS.fileBytes}`,
      `open_files=${FIXED_LIMITS.openFiles}`,
      `processes=${FIXED_LIMITS.processes}`,
      "message_queues=0",
      "locked_memory=0",
      "filter_calls=1",
      `auto_print=${job.autoPrint ? 1 : 0}`,
      "--",
      ...python.packages,
    ];
  }

  return {
    isolation: isolationOf("bubblewrap", asRoot ? "root" : "user", REPORT),
    execute,
    async [Symbol.asyncDispose]() {
      await warden[Symbol.asyncDispose]();
      await rm(root, { recursive: true, force: true });
    },
  };
}

function jailArguments(python: Python, scripts: string): string[] {
  const size = String(FIXED_LIMITS.fileBytes);
  const shown = foldersPythonNeeds(python).flatMap((path) => {
    const link = topLink(path);
    return link === null ? ["--ro-bind", path, path] : ["--symlink", link, path];
  });
  const cache = "/etc/ld.so.cache";
  return [
    ..."--unshare-all --die-with-parent --new-session --cap-drop ALL".split(" "),
    ..."--uid 1000 --gid 1000 --hostname sandbox".split(" "),
    ...`--size ${size} --tmpfs /tmp`.split(" "),
    ...shown,
    ...`--size ${size} --tmpfs /dev/shm`.split(" "),
    ...DEVICES.flatMap((path) => ["--dev-bind", path, path]),
    ...(existsSync(cache) ? ["--ro-bind", cache, cache] : []),
    "--ro-bind",
    scripts,
    "/run/python",
    "--chdir",
    "/tmp",
  ];
}

/** bwrap → its first process inside → the program: bwrap forwards no signal. */
function tellProgram(wrapper: number): void {
  const child = (pid: number) =>
    Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ")[0]);
  try {
    process.kill(child(child(wrapper)), "SIGXCPU");
  } catch {
    // It ended in this moment.
  }
}

/** What bwrap itself spent is not what the program spent. */
function unwrap(wrapped: Ending): Ending {
  const ending = { ...wrapped, cpuSeconds: null };
  const { exitCode } = ending;
  if (exitCode === null || exitCode <= 128) return ending;
  const isFatal = FATAL.some((name) => constants.signals[name] === exitCode - 128);
  return isFatal ? { ...ending, exitCode: null, signal: signalName(exitCode - 128) } : ending;
}

function dropTo(user: number): string[] {
  const setpriv = need("setpriv", "util-linux");
  return [setpriv, `--reuid=${user}`, `--regid=${user}`, "--clear-groups", "--"];
}

function give(path: string): Promise<void> {
  return chown(path, PLAIN_USER, PLAIN_USER);
}

function need(program: string, debianPackage: string): string {
  const found = Bun.which(program);
  if (found !== null) return found;
  throw new Error(
    `Expected the program ${program} for the bubblewrap sandbox, found none; install it (apt-get install ${debianPackage})`,
  );
}
