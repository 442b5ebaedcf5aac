import { readdirSync, readFileSync } from "node:fs";

/** A process, told apart from a later one with the same number by its start time. */
export type Seen = {
  readonly pid: number;
  readonly parent: number;
  readonly started: string;
  readonly command: string;
};

export function processes(): readonly Seen[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const fields = readFileSync(`/proc/${name}/stat`, "utf8").split(") ").at(-1)!.split(" ");
        const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ");
        const dead = fields[0] === "Z" || fields[0] === "X";
        const seen = {
          pid: Number(name),
          parent: Number(fields[1]),
          started: fields[19]!,
          command,
        };
        return dead ? [] : [seen];
      } catch {
        return []; // ended meanwhile
      }
    });
}

/** Everything that a process started, and what that started. */
export function descendants(pid: number): readonly Seen[] {
  const all = processes();
  const found: Seen[] = [];
  let parents = new Set([pid]);
  while (parents.size > 0) {
    const children = all.filter((each) => parents.has(each.parent));
    found.push(...children);
    parents = new Set(children.map((each) => each.pid));
  }
  return found;
}

/** Those of them that still live once `seconds` have passed, or at once when none does. */
export async function survivors(some: readonly Seen[], seconds: number): Promise<readonly Seen[]> {
  const until = performance.now() + seconds * 1000;
  for (;;) {
    const now = new Map(processes().map((each) => [each.pid, each.started]));
    const alive = some.filter((each) => now.get(each.pid) === each.started);
    if (alive.length === 0 || performance.now() > until) return alive;
    await Bun.sleep(20);
  }
}

/** Keeper, template and workers of the pools of this process. */
export function poolOf(pid: number): {
  readonly keeper: Seen;
  readonly template: Seen;
  readonly workers: readonly Seen[];
} {
  const all = descendants(pid).filter((each) => each.command.includes("zygote_main.py"));
  const keeper = all.find((each) => each.parent === pid);
  const template = all.find((each) => each.parent === keeper?.pid);
  if (keeper === undefined || template === undefined)
    throw new Error("Expected a pool, found none");
  return { keeper, template, workers: all.filter((each) => each.parent === template.pid) };
}
