import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Isolation } from "@interlace/core";
import type { Backend } from "./backend.ts";
import { DEFAULT_LIMITS, FIXED_LIMITS } from "./limits.ts";
import { pythonFile } from "./python/environment.ts";
import type { Python } from "./python/find-python.ts";

type Answer = {
  readonly python: readonly string[];
  readonly lines: Readonly<Record<string, boolean>>;
};

/**
 * Runs a program that tries to get out, and returns the backend's report with every line that did not
 * hold turned to false. Throws when the jail shuts the interpreter out of its own files.
 */
export async function probeIsolation(backend: Backend, python: Python): Promise<Isolation> {
  const folder = await mkdtemp(join(tmpdir(), "interlace-probe-"));
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => {} } });
  try {
    const secret = join(folder, "secret");
    await Bun.write(secret, "bait");
    const bait = {
      secret,
      calls: folder,
      port: listener.port,
      pid: process.pid,
      variable: Object.keys(process.env).find((name) => name.includes("TOKEN")) ?? "USER",
      folders: [...python.library, ...python.packages],
      disk: 2 * FIXED_LIMITS.fileBytes,
    };
    const code = await Bun.file(pythonFile("probe.py")).text();
    const job = { id: "probe", code, stdin: JSON.stringify(bait), autoPrint: false, fresh: false };
    const limits = { ...DEFAULT_LIMITS, wallSeconds: 30 };
    const answer = await backend.execute({ ...job, limits }, new AbortController().signal);
    if (!answer.ok) throw new Error(answer.detail);
    if (answer.status !== "ok") {
      throw new Error(
        `its first program ended with ${answer.status}: ${answer.stderr.head.trim()}`,
      );
    }
    const seen = JSON.parse(answer.stdout.head) as Answer;
    if (seen.python.length > 0) {
      throw new Error(
        `Python cannot read its own files inside (${seen.python.join(", ")}); use an interpreter that every user may read, such as /usr/bin/python3`,
      );
    }
    return withSeen(backend.isolation, seen.lines);
  } finally {
    listener.stop(true);
    await rm(folder, { recursive: true });
  }
}

function withSeen(isolation: Isolation, seen: Answer["lines"]): Isolation {
  const lines = isolation.lines.map((line) =>
    line.holds && seen[line.name] === false
      ? { name: line.name, holds: false, why: "it was to hold, but a program got through" }
      : line,
  );
  return { ...isolation, lines };
}
