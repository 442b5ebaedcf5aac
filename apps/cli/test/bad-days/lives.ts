/** Short lives of one run, over scripted ports: what each said, and how it ended. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Ended } from "../support/cli.ts";
import type { Life } from "../kill/victim.ts";

const VICTIM = join(import.meta.dir, "../kill/victim.ts");

export const SMALL = { seed: 5, steps: 2, problems: 5, groupSize: 6, slowMs: 0 } as const;

/** A run of 60 trajectories in `folder/runs`, or what is left of one. */
export function spawnLife(folder: string, change: Partial<Life> = {}) {
  const life: Life = {
    ...SMALL,
    out: join(folder, "runs"),
    resume: findRun(folder),
    asked: "/dev/null",
    ...change,
  };
  return Bun.spawn([process.execPath, VICTIM, JSON.stringify(life)], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
}

export async function live(folder: string, change: Partial<Life> = {}): Promise<Ended> {
  const child = spawnLife(folder, change);
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, stdout, stderr };
}

export function findRun(folder: string): string | null {
  const out = join(folder, "runs");
  const [name] = existsSync(out) ? readdirSync(out) : [];
  return name === undefined ? null : join(out, name);
}

/** The lines that say what went wrong. */
export function complaints(stderr: string): readonly string[] {
  return stderr.split("\n").filter((line) => line.startsWith("interlace: "));
}

/** Files that were begun and not ended. */
export function halfWritten(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.(tmp|part)|~$/.test(name),
  );
}
