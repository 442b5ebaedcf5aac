/** Nothing outlives whoever started it, and what was killed comes back. */

import { existsSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createSandbox, type OwnedSandbox, type SandboxOptions } from "../../src/index.ts";
import { exec, NEVER } from "../conformance/harness.ts";
import { descendants, poolOf, survivors, type Seen } from "./process-tree.ts";

const SLEEP = "import time\ntime.sleep(1000)";
const DAEMON = `import os\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        ${SLEEP.replace("\n", "; ")}\n${SLEEP}`;

/** For every backend: the engine dies. */
export function engineSuite(name: string, options: SandboxOptions): void {
  describe(`${name}: kill -9 of the engine`, () => {
    test.each([
      ["while calls sleep", SLEEP],
      ["while calls spin", "while True: pass"],
      ["while calls have daemons", DAEMON],
    ])("%s leaves no process behind", async (_when, code) => {
      const script = join(import.meta.dir, "engine.ts");
      const engine = Bun.spawn(
        [process.execPath, script, JSON.stringify({ ...options, concurrency: 3 }), code, "3"],
        { stdout: "pipe", stderr: "inherit" },
      );
      await engine.stdout.getReader().read();
      await allBusy(engine.pid, 3);
      const tree = descendants(engine.pid);
      expect(tree.length).toBeGreaterThanOrEqual(3);
      engine.kill("SIGKILL");
      await engine.exited;
      expect(await survivors(tree, 5)).toEqual([]);
      // What lies on disk goes with the engine, or when the next one starts.
      await using next = await createSandbox(options);
      expect((await exec(next, "print('fine')")).stdout.head).toBe("fine\n");
      const left = readdirSync(tmpdir()).filter((entry) => entry.includes(`-${engine.pid}-`));
      expect(left).toEqual([]);
    });
  });
}

/** Calls are under way once so many descendants are not the sandbox's own. */
async function allBusy(engine: number, calls: number): Promise<void> {
  while (descendants(engine).length < calls + 1) await Bun.sleep(10);
  await Bun.sleep(100);
}

/** For the warm pool: any of its processes dies. */
export function poolSuite(name: string, options: SandboxOptions): void {
  describe(`${name}: kill -9`, () => {
    let sandbox: OwnedSandbox;
    beforeEach(async () => {
      sandbox = await createSandbox({ ...options, concurrency: 2 });
    });
    afterEach(() => sandbox[Symbol.asyncDispose]());

    const napping = "import time\nprint('began', flush=True)\ntime.sleep(0.3)\nprint('done')";

    async function started(count: number): Promise<void> {
      while (sandbox.load().running < count) await Bun.sleep(1);
      await Bun.sleep(100);
    }

    test.each(["keeper", "template"] as const)(
      "of the %s: pending calls are repeated on a new pool",
      async (victim) => {
        const pending = [exec(sandbox, napping), exec(sandbox, napping)];
        await started(2);
        const before = descendants(process.pid);
        process.kill(poolOf(process.pid)[victim].pid, "SIGKILL");
        for (const result of await Promise.all(pending)) {
          expect(result).toMatchObject({ status: "ok", stdout: { head: "began\ndone\n" } });
        }
        const pool = before.filter(isOfAPool);
        expect(await survivors(pool, 5)).toEqual([]);
        expect(sandbox.statistics()).toMatchObject({ calls: 2, sandboxErrors: 0 });
      },
    );

    test("of every template: the call is a failure of the sandbox, and the next one is fine", async () => {
      const stop = new AbortController();
      const killing = killTemplatesUntil(stop.signal);
      const answer = await sandbox.run({ id: "doomed", code: SLEEP }, NEVER);
      stop.abort();
      await killing;
      expect(answer).toMatchObject({ ok: false, boundary: "sandbox", cause: "sandbox_error" });
      expect(sandbox.statistics()).toMatchObject({ calls: 0, sandboxErrors: 1, retries: 1 });
      expect((await exec(sandbox, "print('fine')")).stdout.head).toBe("fine\n");
    });

    async function killTemplatesUntil(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        await Bun.sleep(50);
        try {
          process.kill(poolOf(process.pid).template.pid, "SIGKILL");
        } catch {
          // Between two pools.
        }
      }
    }

    test("of idle workers: the next calls are fine", async () => {
      await exec(sandbox, "print(1)");
      while (poolOf(process.pid).workers.length < 2) await Bun.sleep(5);
      for (const worker of poolOf(process.pid).workers) process.kill(worker.pid, "SIGKILL");
      for (let call = 0; call < 4; call += 1) {
        expect((await exec(sandbox, "print('fine')")).stdout.head).toBe("fine\n");
      }
      expect(sandbox.statistics().sandboxErrors).toBe(0);
    });

    test("of anything at random moments: right answers, or none", async () => {
      const stop = new AbortController();
      const random = seeded(Date.now() % 1000);
      async function mayhem(): Promise<void> {
        for (let kills = 0; kills < 5 && !stop.signal.aborted; kills += 1) {
          await Bun.sleep(30 + random() * 150);
          const pool = descendants(process.pid).filter(isOfAPool);
          const victim = pool[Math.floor(random() * pool.length)];
          try {
            if (victim !== undefined) process.kill(victim.pid, "SIGKILL");
          } catch {
            // It had ended.
          }
        }
      }
      const chaos = mayhem();
      const runs = Array.from({ length: 40 }, async (_, index) => {
        const code = `import time\ntime.sleep(0.03)\nprint(${index} * 7)`;
        return [index, await sandbox.run({ id: `${index}`, code }, NEVER)] as const;
      });
      const answers = await Promise.all(runs);
      stop.abort();
      await chaos;
      for (const [index, answer] of answers) {
        if (!answer.ok) expect(answer.cause).toBe("sandbox_error");
        else if (answer.status === "killed") expect(answer.signal).toBe("SIGKILL");
        else expect(answer).toMatchObject({ status: "ok", stdout: { head: `${index * 7}\n` } });
      }
      expect((await exec(sandbox, "print('fine')")).stdout.head).toBe("fine\n");
    });

    test("an abort ends the worker, and disposal leaves no process, folder or control group", async () => {
      const own = await createSandbox({ ...options, concurrency: 1 });
      const controller = new AbortController();
      const running = own.run({ id: "aborted", code: DAEMON }, controller.signal);
      while (own.load().running < 1) await Bun.sleep(1);
      await Bun.sleep(100);
      const tree = descendants(process.pid).filter(isOfAPool);
      controller.abort(new Error("enough"));
      expect(running).rejects.toThrow("enough");
      await running.catch(() => {});
      await own[Symbol.asyncDispose]();
      await sandbox[Symbol.asyncDispose]();
      expect(await survivors(tree, 5)).toEqual([]);
      expect(leftovers()).toEqual([]);
      sandbox = await createSandbox({ ...options, concurrency: 2 });
    });
  });
}

/** Keeper, template and workers: forks keep the command of the first. */
function isOfAPool(each: Seen): boolean {
  return each.command.includes("zygote_main.py");
}

/** Control groups of this engine, and folders that its sandboxes made. */
function leftovers(): readonly string[] {
  const mount = "/sys/fs/cgroup";
  const groups = ["memory", "pids", "cpu", "."]
    .map((name) => join(mount, name))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder))
    .filter((name) => name.startsWith(`interlace-${process.pid}-`));
  const folders = readdirSync(tmpdir()).filter((name) =>
    name.startsWith(`interlace-zygote-${process.pid}-`),
  );
  return [...groups, ...folders];
}

function seeded(seed: number): () => number {
  console.log(`random moments from seed ${seed}`);
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}
