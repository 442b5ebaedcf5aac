/**
 * Control groups, one set per slot: what a call and everything it starts may take in sum – memory and
 * processes by a limit, the processors by an equal share, so that a fork bomb starves nobody. Made by
 * the engine, entered by the workers through descriptors that the template opened beforehand.
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

type Controller = "memory" | "pids" | "cpu";

type Hierarchy = {
  readonly controllers: readonly Controller[];
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
      if (hierarchy.unified)
        writeFileSync(join(parent, "cgroup.subtree_control"), "+memory +pids +cpu");
      for (const controller of hierarchy.controllers) limitAll(controller, parent, slots);
      for (let slot = 0; slot < slots; slot += 1) {
        const folder = join(parent, `slot-${slot}`);
        make(folder, made);
        for (const controller of hierarchy.controllers) limit(controller, folder, limits);
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
    return [{ controllers: ["memory", "pids", "cpu"], mount, unified: true }];
  }
  return (["memory", "pids", "cpu"] as const)
    .filter((name) => existsSync(join(mount, name)))
    .map((name) => ({ controllers: [name], mount: join(mount, name), unified: false }));
}

function make(folder: string, made: string[]): void {
  mkdirSync(folder);
  made.push(folder);
}

function limit(
  controller: Controller,
  folder: string,
  limits: { readonly memoryBytes: number; readonly processes: number },
): void {
  switch (controller) {
    case "memory":
      return limitMemory(folder, limits.memoryBytes);
    case "pids":
      return writeFileSync(join(folder, "pids.max"), String(limits.processes));
    case "cpu":
      return; // equal shares are what a new group has
  }
}

/** All slots together. */
function limitAll(controller: Controller, folder: string, slots: number): void {
  switch (controller) {
    case "memory":
      return limitMemory(folder, Math.floor(totalmem() * SHARE_OF_MACHINE));
    case "pids":
      return;
    case "cpu": {
      // The weight of as many ordinary processes as there are slots: else all calls share one's.
      const old = join(folder, "cpu.shares");
      if (existsSync(old)) writeFileSync(old, String(Math.min(1024 * slots, 262_144)));
      else writeFileSync(join(folder, "cpu.weight"), String(Math.min(100 * slots, 10_000)));
    }
  }
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
