/** Every attack against one sandbox, several at once, each followed by a call that must be untouched. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ExecResult } from "@interlace/core";
import type { OwnedSandbox } from "../../src/index.ts";
import { claims, exec, type Subject } from "../conformance/harness.ts";
import { poolOf, type Seen } from "../lifecycle/process-tree.ts";
import type { Attack, Bait } from "./attack.ts";
import { hostAttacks } from "./host.ts";
import { INTERPRETER_ATTACKS } from "./interpreter.ts";
import { KERNEL_ATTACKS } from "./kernel.ts";
import { networkAttacks } from "./network.ts";
import { OUTPUT_ATTACKS } from "./output.ts";
import { processAttacks } from "./processes.ts";
import { DISK_ATTACKS, MEMORY_ATTACKS } from "./resources.ts";
import { TIME_ATTACKS } from "./time.ts";

/** Attacks under way at once. */
const AT_ONCE = 6;

export function attackSuite(subject: Subject, bait: Bait): void {
  const attacks = allAttacks(bait);
  const runnable = attacks.filter((attack) => missing(attack).length === 0);
  function missing({ needs = [] }: Attack): readonly string[] {
    return needs.filter((line) => !claims(subject, line));
  }

  describe(`${subject.name} holds:`, () => {
    const seen = new Map<string, { readonly attack: ExecResult; readonly canary: ExecResult }>();
    let sandbox: OwnedSandbox;
    let pool: readonly Seen[] = [];

    beforeAll(async () => {
      sandbox = await subject.make({ concurrency: AT_ONCE, limits: { wallSeconds: 60 } });
      pool = lastingProcesses(subject);
      const queue = [...runnable];
      async function work(): Promise<void> {
        for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
          const { name, code, limits = {} } = next;
          const attack = await exec(sandbox, code, { limits });
          seen.set(name, { attack, canary: await exec(sandbox, canary(name)) });
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, work));
    }, 300_000);
    afterAll(() => sandbox[Symbol.asyncDispose]());

    for (const attack of attacks) {
      const open = missing(attack);
      const skipped = open.length > 0 ? ` (not claimed: ${open.join(", ")})` : "";
      test.skipIf(open.length > 0)(`${attack.name}${skipped}`, () => {
        const { attack: ended, canary: next } = seen.get(attack.name)!;
        const shown = `${ended.status} ${ended.exitCode} ${ended.signal}\n${ended.stdout.head.slice(0, 400)}\n${ended.stderr.head.slice(-800)}`;
        expect({ shown, fine: attack.ends.includes(ended.status) }).toEqual({ shown, fine: true });
        if (attack.prints !== undefined) expect(ended.stdout.head).toMatch(attack.prints);
        if (attack.complains !== undefined) expect(ended.stderr.head).toMatch(attack.complains);
        expect(next).toMatchObject({
          status: "ok",
          stdout: { head: `${attack.name.length} []\n` },
        });
      });
    }

    test("in the end nothing broke, and nobody was reached", () => {
      // A call may be repeated where a bomb beside it let its time pass before it began; the pool stays.
      expect(sandbox.statistics()).toMatchObject({ sandboxErrors: 0 });
      expect(lastingProcesses(subject)).toEqual(pool);
    });
  });
}

/** Of a pool: what no call may end. */
function lastingProcesses({ name }: Subject): readonly Seen[] {
  if (!name.startsWith("zygote")) return [];
  const { keeper, template } = poolOf(process.pid);
  return [keeper, template];
}

export function allAttacks(bait: Bait): readonly Attack[] {
  return [
    ...processAttacks(bait),
    ...TIME_ATTACKS,
    ...MEMORY_ATTACKS,
    ...DISK_ATTACKS,
    ...OUTPUT_ATTACKS,
    ...hostAttacks(bait),
    ...networkAttacks(bait),
    ...KERNEL_ATTACKS,
    ...INTERPRETER_ATTACKS,
  ];
}

/** A call like any other: its own result, an empty folder, a whole interpreter. */
function canary(name: string): string {
  return `# MARKER-OF-ANOTHER call\nimport os, random, subprocess, threading\nprint(len(${JSON.stringify(name)}), os.listdir('.'))`;
}

/** The bait of one test file: real files and listeners, and whether anybody came. */
export async function layBait(): Promise<{
  bait: Bait;
  visitors: () => number;
  remove: () => Promise<void>;
}> {
  const folder = await mkdtemp(join(tmpdir(), "bait-"));
  await Bun.spawn(["chmod", "755", folder]).exited;
  const secret = join(folder, "secret.txt");
  await Bun.write(secret, "BAIT");
  let visitors = 0;
  const socket = { open: () => void (visitors += 1), data: () => {} };
  const tcp = Bun.listen({ hostname: "127.0.0.1", port: 0, socket });
  const unixSocket = join(folder, "bait.sock");
  const unix = Bun.listen({ unix: unixSocket, socket });
  const abstractSocket = `interlace-bait-${crypto.randomUUID()}`;
  const abstract = Bun.listen({ unix: `\0${abstractSocket}`, socket });
  process.env["INTERLACE_BAIT_TOKEN"] = "BAIT";
  const project = join(import.meta.dir, "../..");
  return {
    bait: {
      secret,
      folder,
      port: tcp.port,
      unixSocket,
      abstractSocket,
      enginePid: process.pid,
      project,
    },
    visitors: () => visitors,
    async remove() {
      for (const listener of [tcp, unix, abstract]) listener.stop(true);
      await rm(folder, { recursive: true });
    },
  };
}
