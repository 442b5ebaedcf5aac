/** Limits, slots and aborts: what every sandbox keeps when code does not end by itself. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { OwnedSandbox } from "../../src/index.ts";
import { exec, NEVER, type Subject } from "./harness.ts";

export function limitsSuite(subject: Subject): void {
  describe(`${subject.name} keeps its limits:`, () => {
    let sandbox: OwnedSandbox;
    beforeAll(async () => {
      sandbox = await subject.make({ limits: { wallSeconds: 10 } });
    });
    afterAll(() => sandbox[Symbol.asyncDispose]());

    test("a time-out keeps what was printed and names the limit", async () => {
      const code = "print('so far')\nimport time\ntime.sleep(1000)";
      expect(await exec(sandbox, code, { limits: { wallSeconds: 1 } })).toMatchObject({
        status: "timeout",
        limit: 1,
        stdout: { head: "so far\n" },
      });
    });

    test("code that catches everything still times out", async () => {
      const code =
        "import signal\nfor n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError): pass\nwhile True:\n    try:\n        while True: pass\n    except BaseException: pass";
      const result = await exec(sandbox, code, { limits: { wallSeconds: 1, cpuSeconds: 30 } });
      expect(result.status).toBe("timeout");
    });

    test("spinning code meets the CPU limit before the wall clock", async () => {
      const code = "print('so far')\nwhile True: pass";
      expect(
        await exec(sandbox, code, { limits: { wallSeconds: 60, cpuSeconds: 1 } }),
      ).toMatchObject({
        status: "cpu_limit",
        limit: 1,
        stdout: { head: "so far\n" },
      });
    });

    test("both ends of a long output are kept and the middle is counted", async () => {
      const code = "print('start' + 'x' * 300000 + 'end')";
      const { status, stdout } = await exec(sandbox, code, { limits: { keepBytes: 1000 } });
      expect(status).toBe("ok");
      expect(stdout.totalBytes).toBe(300_009);
      expect(stdout.omittedBytes).toBe(300_009 - 2000);
      expect(stdout.head).toBe(`start${"x".repeat(995)}`);
      expect(stdout.tail).toBe(`${"x".repeat(996)}end\n`);
    });

    test.each(["stdout", "stderr"] as const)("a flood of %s is stopped", async (stream) => {
      const code = `import sys\nwhile True: sys.${stream}.write('flood ' * 1000)`;
      const result = await exec(sandbox, code, { limits: { maxOutputBytes: 1 << 20 } });
      expect(result).toMatchObject({ status: "output_limit", limit: 1 << 20 });
      expect(result[stream].head).toStartWith("flood flood");
      expect(result[stream].totalBytes).toBeGreaterThanOrEqual(1 << 20);
    });

    test("one process cannot take more memory than it may", async () => {
      const code =
        "x = bytearray(1 << 30)\nfor i in range(0, 1 << 30, 4096): x[i] = 1\nprint('got it')";
      const result = await exec(sandbox, code, { limits: { memoryBytes: 256 << 20 } });
      expect(["error", "memory_limit"]).toContain(result.status);
      if (result.status === "error") expect(result.stderr.head).toContain("MemoryError");
    });

    test("a process that left its session does not hold the answer", async () => {
      const code =
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(1000)\n    os._exit(0)\nos.wait()\nprint('done')";
      expect(await exec(sandbox, code)).toMatchObject({ status: "ok", stdout: { head: "done\n" } });
    });

    test("an abort rejects with its reason, and the slot is free again", async () => {
      await using single = await subject.make({ concurrency: 1 });
      const controller = new AbortController();
      const request = { id: "aborted", code: "import time; time.sleep(1000)" };
      const running = single.run(request, controller.signal);
      const queued = single.run({ ...request, id: "queued" }, controller.signal);
      await Bun.sleep(0);
      controller.abort(new Error("no longer wanted"));
      const both = await Promise.allSettled([running, queued]);
      for (const each of both) {
        expect(each).toMatchObject({ status: "rejected", reason: { message: "no longer wanted" } });
      }
      expect((await exec(single, "print('free')")).stdout.head).toBe("free\n");
      expect(single.statistics()).toMatchObject({ calls: 1, cancelled: 2, sandboxErrors: 0 });
      expect(single.load()).toEqual({ waiting: 0, running: 0 });
    });

    test("a call aborted beforehand never starts", async () => {
      const reason = new Error("too late");
      const run = sandbox.run({ id: "late", code: "print(1)" }, AbortSignal.abort(reason));
      expect(run).rejects.toBe(reason);
    });

    test("time in the queue is told apart and not taken from the wall clock", async () => {
      await using single = await subject.make({ concurrency: 1, limits: { wallSeconds: 1 } });
      const code = "import time; time.sleep(0.3)";
      const all = await Promise.all(Array.from({ length: 5 }, () => exec(single, code)));
      expect(new Set(all.map((result) => result.status))).toEqual(new Set(["ok"]));
      expect(Math.max(...all.map((result) => result.usage.queuedSeconds))).toBeGreaterThan(1);
    });

    test("no more run at once than there are slots", async () => {
      await using pair = await subject.make({ concurrency: 2 });
      const slow = (index: number) => `import time\ntime.sleep(0.3)\nprint(${index})`;
      const runs = Array.from({ length: 5 }, (_, index) => exec(pair, slow(index)));
      while (pair.load().running < 2) await Bun.sleep(1);
      expect(pair.load()).toEqual({ waiting: 3, running: 2 });
      const outputs = (await Promise.all(runs)).map((result) => result.stdout.head);
      expect(outputs).toEqual(["0\n", "1\n", "2\n", "3\n", "4\n"]);
    });

    test("totals count what ended how", async () => {
      await using counted = await subject.make({ limits: { wallSeconds: 20 } });
      await exec(counted, "print(1)");
      await exec(counted, "1 / 0");
      await exec(counted, "import time; time.sleep(1000)", { limits: { wallSeconds: 1 } });
      expect(counted.statistics()).toMatchObject({ calls: 3, ok: 1, timeouts: 1, errors: 1 });
    });

    test("a limit that the kernel would read as none is refused", async () => {
      const run = sandbox.run(
        { id: "negative", code: "print(1)", limits: { memoryBytes: -2 } },
        NEVER,
      );
      expect(run).rejects.toThrow("memoryBytes");
    });
  });
}
