import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { describeIsolation, findPython, type Python } from "../../packages/sandbox/src/index.ts";
import { createZygoteBackend } from "../../packages/sandbox/src/backends/zygote/zygote.ts";
import type { Backend } from "../../packages/sandbox/src/backend.ts";
import { DEFAULT_LIMITS } from "../../packages/sandbox/src/limits.ts";

/** Runs one program to its end; throws when it did not end well. */
export type Run = (code: string) => Promise<void>;

export type Contenders = AsyncDisposable & {
  readonly python: string;
  readonly described: string;
  /** One process of the real interpreter per call, with its packages: the baseline. */
  readonly plain: Run;
  /** The same without `site`, so without packages: the fastest start there is. */
  readonly bareStart: Run;
  /** The pool as it is used. */
  readonly pool: Run;
  /** The same pool with nothing around a call. */
  readonly forkOnly: Run;
  readonly cores: number;
};

const TEST_PYTHON = join(import.meta.dir, "../../.interlace/test-venv/bin/python");
const NEVER = new AbortController().signal;
/** Enough slots that callers, not the pool, decide how many run at once. */
const SLOTS = 64;

export async function openContenders(wanted: string | undefined): Promise<Contenders> {
  const python = await findPython(wanted ?? (existsSync(TEST_PYTHON) ? TEST_PYTHON : "python3"));
  // Folders of calls without a namespace lie in memory, as those with one do: no disk in the comparison.
  if (existsSync("/dev/shm")) process.env["TMPDIR"] = "/dev/shm";
  const common = { python, concurrency: SLOTS, memoryBytes: 2 ** 31, preload: ["numpy", "sympy"] };
  await using opened = new AsyncDisposableStack();
  const pool = opened.use(await createZygoteBackend(common));
  const without = ["namespaces", "landlock", "seccomp", "groups"] as const;
  const forkOnly = opened.use(await createZygoteBackend({ ...common, without }));
  const owned = opened.move();
  return {
    python: python.executable,
    described: describeIsolation(pool.isolation),
    plain: processRun(python, ["-I", "-B"]),
    bareStart: processRun(python, ["-I", "-S", "-B"]),
    pool: runOn(pool),
    forkOnly: runOn(forkOnly),
    cores: availableParallelism(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function runOn(backend: Backend): Run {
  return async (code) => {
    const rest = { stdin: "", limits: DEFAULT_LIMITS, autoPrint: false, fresh: false };
    const job = { id: "bench", code, ...rest };
    const answer = await backend.execute(job, NEVER);
    if (!answer.ok || answer.status !== "ok") throw new Error(JSON.stringify(answer));
  };
}

function processRun(python: Python, flags: readonly string[]): Run {
  const env = { PATH: "/usr/bin:/bin", OPENBLAS_NUM_THREADS: "1" };
  return async (code) => {
    const child = Bun.spawn([python.executable, ...flags, "-c", code], {
      env,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const [, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    if ((await child.exited) !== 0) throw new Error(stderr);
  };
}
