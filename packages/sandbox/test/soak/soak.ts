/** Many mixed calls through one sandbox: right answers, and nothing that grows. */

import { readdirSync, readFileSync } from "node:fs";
import type { OwnedSandbox } from "../../src/index.ts";
import { NEVER } from "../conformance/harness.ts";
import { descendants, poolOf } from "../lifecycle/process-tree.ts";

/** What must be the same before and after. */
export type Footprint = {
  readonly processes: number;
  readonly descriptors: number;
  readonly templateDescriptors: number;
  /** Resident memory in MB. */
  readonly engineMemory: number;
  readonly templateMemory: number;
};

type Kind = readonly [code: (n: number) => string, status: string, stdout: (n: number) => string];

const KINDS: readonly Kind[] = [
  [(n) => `print(${n} * 3)`, "ok", (n) => `${n * 3}\n`],
  [
    (n) => `print(sum(range(${n % 1000})))`,
    "ok",
    (n) => `${((n % 1000) * ((n % 1000) - 1)) / 2}\n`,
  ],
  [(n) => `import json\nprint(json.dumps([${n}]))`, "ok", (n) => `[${n}]\n`],
  [(n) => `print(${n})\nraise ValueError(${n})`, "error", (n) => `${n}\n`],
  [(n) => `import sys\nprint(${n})\nsys.exit(3)`, "error", (n) => `${n}\n`],
  [() => "x = = 1", "error", () => ""],
  [(n) => `open('f', 'w').write('x' * 100000)\nprint(${n})`, "ok", (n) => `${n}\n`],
  [
    (n) => `print('${"x".repeat(20)}' * 5000)\nprint(${n})`,
    "ok",
    (n) => `${"x".repeat(100_000)}\n${n}\n`,
  ],
  [
    (n) =>
      `import os\nif os.fork() == 0:\n    os.setsid()\n    import time; time.sleep(1000)\nprint(${n})`,
    "ok",
    (n) => `${n}\n`,
  ],
  [
    (n) => `import threading\nt = threading.Thread(target=print, args=(${n},))\nt.start()`,
    "ok",
    (n) => `${n}\n`,
  ],
  [(n) => `import ctypes\nprint(${n}, flush=True)\nctypes.string_at(0)`, "killed", (n) => `${n}\n`],
];

/** Runs `count` calls, some of them aborted; returns what came out wrong. */
export async function soak(
  sandbox: OwnedSandbox,
  count: number,
  callers: number,
): Promise<string[]> {
  const wrong: string[] = [];
  let next = 0;
  async function caller(): Promise<void> {
    while (next < count) {
      const n = next;
      next += 1;
      if (n % 97 === 0) await abortedCall(sandbox, n);
      const [code, status, stdout] = KINDS[n % KINDS.length]!;
      const answer = await sandbox.run({ id: `soak-${n}`, code: code(n) }, NEVER);
      const fine = answer.ok && answer.status === status && answer.stdout.head === stdout(n);
      if (!fine) wrong.push(`${n}: ${JSON.stringify(answer).slice(0, 300)}`);
    }
  }
  await Promise.all(Array.from({ length: callers }, caller));
  return wrong;
}

async function abortedCall(sandbox: OwnedSandbox, n: number): Promise<void> {
  const controller = new AbortController();
  const run = sandbox.run({ id: `aborted-${n}`, code: "while True: pass" }, controller.signal);
  await Bun.sleep(5);
  controller.abort();
  await run.catch(() => {});
}

/** Once nothing is under way and the pool has made its spare workers. */
export async function footprint(spare: number): Promise<Footprint> {
  while (poolOf(process.pid).workers.length !== spare) await Bun.sleep(5);
  await Bun.sleep(200);
  Bun.gc(true);
  const { template } = poolOf(process.pid);
  return {
    processes: descendants(process.pid).length,
    descriptors: readdirSync("/proc/self/fd").length,
    templateDescriptors: readdirSync(`/proc/${template.pid}/fd`).length,
    engineMemory: memory("self"),
    templateMemory: memory(String(template.pid)),
  };
}

function memory(pid: string): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024;
}
