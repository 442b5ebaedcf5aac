/**
 * Control groups, one set per slot: what a call and everything it starts may take in sum. Made by the
 * engine, entered by the workers through descriptors that the template opened beforehand.
 */

import { existsSync, mkdirSync, readdirSync, rmdirSync, writeFileSync } from "node:fs";
import { totalmem } from "node:os";
import { join } from "node:path";

export type Groups = AsyncDisposable & {
  /** Folders of slot N, with "%" for N; empty when there are none. */
  readonly templates: readonly string[];
  /** Whether memory, and the number of processes, are limited in sum; or why not. */
  readonly memory: true | string;
  readonly processes: true | string;
};

/** All calls together may take this share of the machine, whatever each is allowed. */
const SHARE_OF_MACHINE = 0.9;
const PREFIX = "interlace-";

type Hierarchy = {
  readonly controllers: readonly ("memory" | "pids")[];
  readonly mount: string;
  readonly unified: boolean;
};

export function makeGroups(
  slots: number,
  limits: { readonly memoryBytes: number; readonly processes: number },
  mount = "/sys/fs/cgroup",
): Groups {
  const made: string[] = [];
  const templates: string[] = [];
  const has = new Map<string, true | string>();
  for (const hierarchy of hierarchies(mount)) {
    try {
      removeStale(hierarchy.mount);
      const parent = join(hierarchy.mount, `${PREFIX}${process.pid}-${crypto.randomUUID()}`);
      make(parent, made);
      if (hierarchy.unified) writeFileSync(join(parent, "cgroup.subtree_control"), "+memory +pids");
      for (const controller of hierarchy.controllers) {
        if (controller === "memory") limitMemory(parent, Math.floor(totalmem() * SHARE_OF_MACHINE));
      }
      for (let slot = 0; slot < slots; slot += 1) {
        const folder = join(parent, `slot-${slot}`);
        make(folder, made);
        for (const controller of hierarchy.controllers) {
          if (controller === "memory") limitMemory(folder, limits.memoryBytes);
          else writeFileSync(join(folder, "pids.max"), String(limits.processes));
        }
      }
      templates.push(join(parent, "slot-%"));
      for (const controller of hierarchy.controllers) has.set(controller, true);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      for (const controller of hierarchy.controllers) has.set(controller, why);
    }
  }
  return {
    templates,
    memory: has.get("memory") ?? "no control group for memory",
    processes: has.get("pids") ?? "no control group for processes",
    async [Symbol.asyncDispose]() {
      for (const folder of made.toReversed()) await removeWhenEmpty(folder);
    },
  };
}

function hierarchies(mount: string): Hierarchy[] {
  if (existsSync(join(mount, "cgroup.controllers"))) {
    return [{ controllers: ["memory", "pids"], mount, unified: true }];
  }
  return (["memory", "pids"] as const)
    .filter((name) => existsSync(join(mount, name)))
    .map((name) => ({ controllers: [name], mount: join(mount, name), unified: false }));
}

function make(folder: string, made: string[]): void {
  mkdirSync(folder);
  made.push(folder);
}

function limitMemory(folder: string, bytes: number): void {
  const old = join(folder, "memory.limit_in_bytes");
  writeFileSync(existsSync(old) ? old : join(folder, "memory.max"), String(bytes));
}

/** An engine that was killed left its groups, by then empty. */
function removeStale(mount: string): void {
  for (const name of readdirSync(mount)) {
    const pid = /^interlace-(\d+)-/.exec(name)?.[1];
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    const parent = join(mount, name);
    try {
      for (const entry of readdirSync(parent, { withFileTypes: true })) {
        if (entry.isDirectory()) rmdirSync(join(parent, entry.name));
      }
      rmdirSync(parent);
    } catch {
      // Not empty yet: another start removes it.
    }
  }
}

/** The kernel lets go of the last process a moment after it was reaped. */
async function removeWhenEmpty(folder: string): Promise<void> {
  for (let attempt = 0; existsSync(folder); attempt += 1) {
    try {
      rmdirSync(folder);
    } catch (error) {
      if (attempt >= 100) throw error;
      await Bun.sleep(10);
    }
  }
}
