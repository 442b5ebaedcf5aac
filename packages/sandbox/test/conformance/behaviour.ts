/** What every sandbox keeps (sandbox.md §2), as one suite; a backend's own test file is five lines. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { OwnedSandbox } from "../../src/index.ts";
import { exec, type Subject } from "./harness.ts";

export function behaviourSuite(subject: Subject): void {
  describe(`${subject.name} behaves as a sandbox:`, () => {
    let sandbox: OwnedSandbox;
    beforeAll(async () => {
      sandbox = await subject.make({ limits: { wallSeconds: 10 } });
    });
    afterAll(() => sandbox[Symbol.asyncDispose]());

    test("success answers with stdout and exit code 0", async () => {
      expect(await exec(sandbox, "print(6 * 7)")).toMatchObject({
        ok: true,
        status: "ok",
        exitCode: 0,
        signal: null,
        limit: null,
        stdout: { head: "42\n", tail: "", omittedBytes: 0, totalBytes: 3 },
        stderr: { head: "", totalBytes: 0 },
      });
    });

    test("the tool really runs: only execution reveals a secret sum", async () => {
      const secret = crypto.getRandomValues(new Uint32Array(8));
      const sum = secret.reduce((a, b) => a + b, 0);
      const code = `print(sum([${secret.join(",")}]))`;
      expect((await exec(sandbox, code)).stdout.head).toBe(`${sum}\n`);
    });

    test("an error keeps stdout and shows the real traceback on stderr", async () => {
      const result = await exec(sandbox, "print('before')\ndef f():\n    return 1 / 0\nf()");
      expect(result).toMatchObject({ status: "error", exitCode: 1, stdout: { head: "before\n" } });
      expect(result.stderr.head).toBe(
        [
          "Traceback (most recent call last):",
          '  File "<sandbox>", line 4, in <module>',
          "    f()",
          '  File "<sandbox>", line 3, in f',
          "    return 1 / 0",
          "           ~~^~~",
          "ZeroDivisionError: division by zero",
          "",
        ].join("\n"),
      );
    });

    test("an error without words is told by its exit code", async () => {
      expect(await exec(sandbox, "import os; os._exit(7)")).toMatchObject({
        status: "error",
        exitCode: 7,
        stderr: { totalBytes: 0 },
      });
    });

    test("a segmentation fault is killed by its signal", async () => {
      const result = await exec(sandbox, "import ctypes; ctypes.string_at(0)");
      expect(result).toMatchObject({ status: "killed", exitCode: null, signal: "SIGSEGV" });
    });

    // Process 1 of a namespace is deaf to what it would die of by default: pinned, not hidden.
    test.each([
      ["SIGTERM", "SIGTERM", { status: "ok", signal: null }],
      ["SIGKILL", "SIGKILL", { status: "ok", signal: null }],
      ["SIGABRT", "SIGABRT", { status: "ok", signal: null }],
    ] as const)("%s to itself", async (name, signal, deaf) => {
      const code = `import os, signal\nos.kill(os.getpid(), signal.${name})`;
      const dead = { status: "killed", exitCode: null, signal };
      const expected = subject.isFirstProcess === true ? deaf : dead;
      expect(await exec(sandbox, code)).toMatchObject(expected);
    });

    test("os.abort ends it", async () => {
      const signal = subject.isFirstProcess === true ? "SIGSEGV" : "SIGABRT";
      const result = await exec(sandbox, "import os; os.abort()");
      expect(result).toMatchObject({ status: "killed", signal });
    });

    test("stdin is empty unless given", async () => {
      const code = "import sys; print(repr(sys.stdin.read()))";
      expect((await exec(sandbox, code)).stdout.head).toBe("''\n");
      expect((await exec(sandbox, code, { stdin: "a\nü" })).stdout.head).toBe("'a\\nü'\n");
    });

    test("a large stdin that is never read does no harm", async () => {
      const result = await exec(sandbox, "print('unread')", { stdin: "x".repeat(1 << 20) });
      expect(result).toMatchObject({ status: "ok", stdout: { head: "unread\n" } });
    });

    test("nothing persists from call to call", async () => {
      await exec(sandbox, "kept = 1\nimport math, builtins\nmath.pi = 3\nbuiltins.kept = 1");
      await exec(sandbox, "open('kept.txt', 'w').write('x')\nimport os; os.environ['KEPT'] = 'x'");
      const code =
        "import math, os, builtins\nprint('kept' in globals(), math.pi > 3.1, os.listdir('.'), 'KEPT' in os.environ, hasattr(builtins, 'kept'))";
      expect((await exec(sandbox, code)).stdout.head).toBe("False True [] False False\n");
    });

    test("the environment holds nothing of the host's", async () => {
      const { stdout } = await exec(sandbox, "import os; print(sorted(os.environ))");
      const names = new Set(stdout.head.match(/\w+/g));
      for (const name of ["PATH", "HOME", "LANG", "TMPDIR", "PYTHONHASHSEED"]) names.delete(name);
      for (const name of names) {
        expect(name).toMatch(
          /^(\w+_NUM_THREADS|VECLIB_MAXIMUM_THREADS|OPENBLAS_\w+|INTERLACE_CALL)$/,
        );
      }
    });

    test("hashes are the same in every call, and numeric libraries get one thread", async () => {
      const code =
        "import os; print(hash('a'), {'x', 'y', 'z'}, os.environ['OMP_NUM_THREADS'], os.environ['OPENBLAS_NUM_THREADS'])";
      const first = await exec(sandbox, code);
      expect((await exec(sandbox, code)).stdout.head).toBe(first.stdout.head);
      expect(first.stdout.head).toEndWith(" 1 1\n");
    });

    test("random numbers differ from call to call", async () => {
      const code = "import random; print(random.random())";
      expect((await exec(sandbox, code)).stdout.head).not.toBe(
        (await exec(sandbox, code)).stdout.head,
      );
    });

    test("code longer than any argument list runs", async () => {
      const code = `x = '${"y".repeat(1 << 20)}'\nprint(len(x))`;
      expect((await exec(sandbox, code)).stdout.head).toBe("1048576\n");
    });

    test("a NUL and a lone surrogate in the code are the code's own errors", async () => {
      expect((await exec(sandbox, "print(1)\0")).status).toBe("error");
      expect((await exec(sandbox, "print('\ud800')")).status).toBe("ok");
    });

    test("broken UTF-8 is shown with replacement characters", async () => {
      const { stdout } = await exec(sandbox, "import os; os.write(1, b'a\\xffb\\x00')");
      expect(stdout).toMatchObject({ head: "a\ufffdb\0", totalBytes: 4 });
    });

    test("usage is told", async () => {
      const { usage } = await exec(sandbox, "print(sum(range(10**6)))");
      expect(usage.wallSeconds).toBeGreaterThan(0);
      expect(usage.queuedSeconds).toBeGreaterThanOrEqual(0);
    });
  });
}
