/**
 * In: the command of a worker process. Out: one verdict a time, within a time and a memory limit.
 * Refuses to know: the queue, and what a verdict means. A worker that broke a limit is dead: it is killed
 * with its whole group and never asked again.
 */
import type { Verdict } from "@interlace/core";
import { processMemory } from "./process-memory.ts";
import { readLines } from "./read-lines.ts";

export type Pair = { readonly reference: string; readonly prediction: string };

export type WorkerLimits = {
  /** Per verdict, from when the worker gets it. */
  readonly timeoutSeconds: number;
  /** Resident memory while it thinks; watched where the system tells it (Linux). */
  readonly memoryBytes: number;
  /** From the process' start until it is ready. */
  readonly startSeconds: number;
};

export type Worker = AsyncDisposable & {
  readonly pid: number;
  /** False once it has been killed or has ended. */
  readonly alive: () => boolean;
  /** One pair at a time. Never rejects: what goes wrong is `unscored`. */
  readonly ask: (pair: Pair) => Promise<Verdict>;
};

const WATCH_MS = 100;
const KEPT_ERROR_CHARS = 500;

/**
 * Resolves when the worker is ready; rejects when it ends or stays silent before. An abort of `life` kills
 * it, whatever it is doing.
 */
export async function startWorker(
  command: readonly string[],
  limits: WorkerLimits,
  life: AbortSignal,
): Promise<Worker> {
  const child = Bun.spawn([...command], {
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      LANG: "C.UTF-8",
      // Orders of sets in the library follow the hashes: verdicts must not change from run to run.
      PYTHONHASHSEED: "0",
      PYTHONDONTWRITEBYTECODE: "1",
    },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
    // A group of its own: a Ctrl-C at the terminal must not take it, and a kill takes all of it.
    detached: true,
  });
  const answers = readLines(child.stdout);
  let said = "";
  const draining = (async () => {
    for await (const line of readLines(child.stderr)) {
      said = `${said}\n${line}`.slice(-KEPT_ERROR_CHARS);
    }
  })();
  let alive = true;
  let asked = 0;

  life.addEventListener("abort", kill, { once: true });

  function kill(): void {
    if (!alive) return;
    alive = false;
    life.removeEventListener("abort", kill);
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended on its own.
    }
  }

  /** The next line, or why there is none; a limit that breaks ends the process, and so the lines. */
  async function next(seconds: number): Promise<string | { readonly ended: Ending }> {
    let broken: Ending | null = null;
    const breakLimit = (ending: Ending): void => {
      broken ??= ending;
      kill();
    };
    const detail = `Expected an answer within ${seconds} s`;
    const timer = setTimeout(() => breakLimit({ reason: "timeout", detail }), seconds * 1000);
    const watch = setInterval(() => {
      const bytes = processMemory(child.pid);
      if (bytes === null || bytes <= limits.memoryBytes) return;
      const seen = `Expected at most ${limits.memoryBytes} bytes of memory, saw ${bytes}`;
      breakLimit({ reason: "memory", detail: seen });
    }, WATCH_MS);
    try {
      const line = await answers.next();
      if (broken === null && line.done !== true) return line.value;
      kill();
      await Promise.all([child.exited, draining]);
      return { ended: broken ?? { reason: "worker_died", detail: describeEnd() } };
    } finally {
      clearTimeout(timer);
      clearInterval(watch);
    }
  }

  function describeEnd(): string {
    const how = child.signalCode ?? `exit code ${child.exitCode}`;
    return `The worker ended (${how})${said.trim() === "" ? "" : `: ${said.trim()}`}`;
  }

  const ready = await next(limits.startSeconds);
  if (typeof ready !== "string") throw new Error(ready.ended.detail);

  return {
    pid: child.pid,
    alive: () => alive && child.exitCode === null && child.signalCode === null,
    async ask(pair) {
      const id = ++asked;
      const request = { id, ...pair, limit: limits.timeoutSeconds };
      try {
        await child.stdin.write(`${JSON.stringify(request)}\n`);
        await child.stdin.flush();
      } catch {
        // It is gone; its end is told below.
      }
      const line = await next(limits.timeoutSeconds);
      if (typeof line !== "string") return { kind: "unscored", ...line.ended };
      const verdict = parseVerdict(line, id);
      if (verdict !== null) return verdict;
      kill();
      const detail = `Expected a verdict on request ${id}, got ${line.slice(0, 100)}`;
      return { kind: "unscored", reason: "worker_confused", detail };
    },
    async [Symbol.asyncDispose]() {
      kill();
      await Promise.all([child.exited, draining]);
    },
  };
}

type Ending = { readonly reason: string; readonly detail: string };

function parseVerdict(line: string, id: number): Verdict | null {
  let answer: { readonly id?: unknown; readonly kind?: unknown; readonly detail?: unknown };
  try {
    answer = JSON.parse(line);
  } catch {
    return null;
  }
  if (answer.id !== id) return null;
  if (answer.kind === "equal" || answer.kind === "different") return { kind: answer.kind };
  if (answer.kind !== "unscored") return null;
  return { kind: "unscored", reason: "judge_error", detail: String(answer.detail) };
}
