import { existsSync } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import type { ExecLimits } from "@interlace/core";
import { explain, type IsolationReport } from "../../isolation.ts";
import { FIXED_LIMITS } from "../../limits.ts";
import type { Python } from "../../python/find-python.ts";
import { foldersPythonNeeds } from "../../python/needed-folders.ts";
import { makeGroups, type Groups } from "./groups.ts";
import { possibleLevels, reportOf, type Level } from "./levels.ts";
import { startTemplate, type Template, type TemplateConfig } from "./template.ts";
import { encodeKill, encodeStart } from "./wire.ts";
import { openWorker, type Worker } from "./worker.ts";

export type PoolOptions = {
  readonly python: Python;
  /** Absent: the best that this machine gives. */
  readonly level?: Level;
  /** Calls at once. */
  readonly concurrency: number;
  /** Memory of one call in sum, where a control group allows; a request may change it. */
  readonly memoryBytes: number;
  /** Modules imported ahead; those that are missing are refused. */
  readonly preload: readonly string[];
  /** Not even what most programs import is imported ahead: here it could not be. Default: it is. */
  readonly bare?: boolean;
  /**
   * The first worker is forked before what most programs import is: it only shows that the jail holds, for which nobody
   * then waits. All others wait for the imports. Default: there is no such worker.
   */
  readonly firstAlone?: boolean;
  /** Root may have the pool run as another, plain user, by id. */
  readonly runAs?: number;
  /** Parts of the jail to leave out, to measure what they cost. */
  readonly without?: readonly ("namespaces" | "landlock" | "seccomp" | "groups")[];
};

/** One template and the workers forked from it. */
export type Pool = AsyncDisposable & {
  readonly level: Level;
  readonly report: IsolationReport;
  readonly alive: () => boolean;
  /** Resolves when the template has ended. */
  readonly ended: Promise<void>;
  /** Whether its imports are behind it. */
  readonly warm: () => boolean;
  /** A worker that is ready, one made ahead if there is one and it need not be fresh. Give it back by `putBack` or `release`. */
  readonly take: (fresh: boolean) => Promise<Worker>;
  readonly putBack: (worker: Worker) => void;
  readonly release: () => void;
  readonly start: (worker: Worker, limits: ExecLimits) => void;
  readonly kill: (worker: Worker) => void;
};

/** What most programs import; others by `preload`. */
const PRELOAD_IF_THERE = `
  numpy sympy mpmath
  collections contextlib copy csv dataclasses datetime decimal enum fractions functools heapq inspect
  itertools json math operator random re statistics string threading time traceback typing
`
  .trim()
  .split(/\s+/);
/** Host ids that root maps into the jail: above all that distributions and container managers give away. */
const FIRST_IDS = 0x7000_0000;
const IDS_OF_A_POOL = 65_536;
const ID_RANGES = 4096;
let pools = 0;

/** Calls of two pools share no id: what runs under one is counted, and reached by signals, together. */
function nextFirstId(): number {
  pools += 1;
  return FIRST_IDS + ((7 * process.pid + pools) % ID_RANGES) * IDS_OF_A_POOL;
}

/** Throws, with the reason of every level tried, when none can be had. */
export async function openPool(options: PoolOptions): Promise<Pool> {
  const levels = options.level === undefined ? possibleLevels(asRoot(options)) : [options.level];
  const reasons: string[] = [];
  for (const level of levels) {
    try {
      const pool = await openPoolAt(level, options);
      return reasons.length === 0
        ? pool
        : { ...pool, report: explain(pool.report, reasons.join("; ")) };
    } catch (error) {
      reasons.push(`${level}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new Error(`Expected to start the warm pool, but ${reasons.join("; ")}`);
}

async function openPoolAt(level: Level, options: PoolOptions): Promise<Pool> {
  const spare = Math.min(2 * options.concurrency, 2 * availableParallelism());
  const slots = options.concurrency + spare;
  const { memoryBytes } = options;
  await removeStale();
  await using made = new AsyncDisposableStack();
  const folder = made.adopt(
    await mkdtemp(join(tmpdir(), `interlace-zygote-${process.pid}-`)),
    removeFolder,
  );
  // Root's calls have ids of their own: they may pass through to their folders, and list nothing.
  await chmod(folder, 0o711);
  await mkdir(join(folder, "private"), { mode: 0o700 });
  await mkdir(join(folder, "calls"), { mode: 0o711 });
  if (options.runAs !== undefined) await giveTo(folder, options.runAs);
  const grouped = asRoot(options) && options.without?.includes("groups") !== true;
  const processes = FIXED_LIMITS.processes;
  const groups = made.use(grouped ? makeGroups(slots, { memoryBytes, processes }) : noGroups());
  const config = configOf(level, options, folder, slots, groups);
  const template = made.use(await startTemplate(options.python, config));
  return poolOf(level, spare, config, template, groups, made.move());
}

function poolOf(
  level: Level,
  spare: number,
  { socket, first_alone: firstAlone }: Pick<TemplateConfig, "socket" | "first_alone">,
  template: Template,
  groups: Groups,
  owned: AsyncDisposableStack,
): Pool {
  const cores = availableParallelism();
  const idle = new Set<Worker>();
  let opened = 0;
  let taken = 0;
  let preparing = 0;
  let alive = true;
  /** Until the first worker has been given back nobody else is made: it would be as cold. */
  let alone = firstAlone;
  let warm = !firstAlone;
  void noteTheEnd();

  async function noteTheEnd(): Promise<void> {
    await template.ended;
    alive = false;
  }

  function open(): Worker {
    opened += 1;
    return openWorker(template, socket, opened);
  }

  /** Kept for a later call, unless it ends while it waits. */
  async function keep(worker: Worker): Promise<void> {
    idle.add(worker);
    await worker.closed;
    idle.delete(worker);
  }

  /**
   * Made while calls run, spare workers cost them what they save later: so on the cores that no call
   * needs the whole stock is made, and on a busy machine just what the next calls begin with at once.
   */
  async function refill(): Promise<void> {
    const busy = () => taken >= cores;
    const wanted = () =>
      alive &&
      !alone &&
      preparing < (busy() ? cores : cores - taken) &&
      idle.size + preparing < (busy() ? Math.min(cores, spare) : spare);
    while (wanted()) {
      preparing += 1;
      const worker = open();
      const ready = await worker.ready.then(
        () => true,
        () => false,
      );
      preparing -= 1;
      if (!ready) return;
      warm = true;
      void keep(worker);
    }
  }

  void refill();
  return {
    level,
    report: reportOf(level, template.enforced, groups),
    alive: () => alive,
    ended: template.ended,
    warm: () => warm,
    async take(fresh) {
      taken += 1;
      const [ready] = fresh ? [] : idle;
      if (ready !== undefined) idle.delete(ready);
      const worker = ready ?? open();
      void refill();
      try {
        await worker.ready;
      } catch (error) {
        taken -= 1;
        throw error;
      }
      if (!alone) warm = true;
      return worker;
    },
    putBack(worker) {
      taken -= 1;
      void keep(worker);
    },
    release() {
      taken -= 1;
      alone = false;
      void refill();
    },
    start: ({ number }, { wallSeconds, memoryBytes }) =>
      template.command(encodeStart(number, wallSeconds, memoryBytes)),
    kill: (worker) => template.command(encodeKill(worker.number)),
    async [Symbol.asyncDispose]() {
      alive = false;
      await owned.disposeAsync();
    },
  };
}

function configOf(
  level: Level,
  options: PoolOptions,
  folder: string,
  slots: number,
  groups: Groups,
): TemplateConfig {
  const without = options.without ?? [];
  const needed = foldersPythonNeeds(options.python);
  return {
    socket: join(folder, "private", "pool.sock"),
    namespaces: level !== "landlock" && !without.includes("namespaces"),
    landlock: !without.includes("landlock"),
    seccomp: !without.includes("seccomp"),
    run_as: options.runAs ?? -1,
    first_id: nextFirstId(),
    slots,
    read_only: needed,
    packages: options.python.packages,
    preload: options.preload,
    preload_optional: options.bare === true ? [] : PRELOAD_IF_THERE,
    first_alone: options.firstAlone === true,
    // A call's own /tmp would hide an interpreter that lies there.
    home: needed.some((path) => path.startsWith("/tmp/")) ? "/home" : "/tmp",
    folder: join(folder, "calls"),
    groups: groups.templates,
    file_bytes: FIXED_LIMITS.fileBytes,
    open_files: FIXED_LIMITS.openFiles,
    processes: FIXED_LIMITS.processes,
    stack_bytes: FIXED_LIMITS.stackBytes,
  };
}

function asRoot(options: PoolOptions): boolean {
  return process.getuid?.() === 0 && options.runAs === undefined;
}

async function giveTo(folder: string, user: number): Promise<void> {
  for (const path of [folder, join(folder, "private"), join(folder, "calls")]) {
    await chown(path, user, user);
  }
}

function noGroups(): Groups {
  const why = "control groups need root";
  const nothing = () => Promise.resolve();
  return { templates: [], memory: why, processes: why, [Symbol.asyncDispose]: nothing };
}

/** An engine that was killed left its folder, by then of no use to anybody. */
async function removeStale(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = /^interlace-zygote-(\d+)-/.exec(name)?.[1];
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    await removeFolder(join(tmpdir(), name)).catch(() => {}); // another user's is that user's matter
  }
}

function removeFolder(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true });
}
