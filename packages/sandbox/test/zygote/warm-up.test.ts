/**
 * What most programs import is imported behind the probe of the jail: nobody waits for it, no program of the model
 * ever runs without it, and where it cannot be imported calls run without.
 */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createSandbox, findPython } from "../../src/index.ts";
import { createZygoteBackend } from "../../src/backends/zygote/zygote.ts";
import { resolveLimits } from "../../src/limits.ts";
import { exec, NEVER } from "../conformance/harness.ts";
import { withSubject, type Kind } from "../conformance/subjects.ts";
import "../conformance/patience.ts";

const KINDS: readonly Kind[] = ["zygote as root", "zygote as user", "zygote with landlock"];
/** Of the standard library, imported by nothing that the template itself needs. */
const IS_THERE = "import sys\nprint('statistics' in sys.modules)";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "warm-up-"));
});
afterAll(() => rm(folder, { recursive: true }));

for (const kind of KINDS) {
  await withSubject(kind, ({ make, name }) => {
    test(`${name}: every program finds it imported, the first ones too`, async () => {
      await using sandbox = await make({ concurrency: 3 });
      const runs = await Promise.all([1, 2, 3, 4].map(() => exec(sandbox, IS_THERE)));
      expect(runs.map(({ stdout }) => stdout.head)).toEqual(Array(4).fill("True\n"));
    });
  });
}

await withSubject("zygote as root", ({ make, python, name }) => {
  const execute = async (backend: Awaited<ReturnType<typeof createZygoteBackend>>) => {
    const job = { id: "p", code: IS_THERE, stdin: "", autoPrint: false, fresh: false };
    const answer = await backend.execute({ ...job, limits: resolveLimits() }, NEVER);
    return answer.ok ? answer.stdout.head : answer.detail;
  };
  const options = async () => {
    const { memoryBytes } = resolveLimits();
    return { python: await findPython(python), concurrency: 2, memoryBytes, preload: [] };
  };

  test(`${name}: the first worker alone does not wait for it`, async () => {
    await using backend = await createZygoteBackend({ ...(await options()), firstAlone: true });
    expect(await execute(backend)).toBe("False\n");
    expect(await execute(backend)).toBe("True\n");
  });

  test(`${name}: without a first worker all have it`, async () => {
    await using backend = await createZygoteBackend(await options());
    expect(await execute(backend)).toBe("True\n");
  });

  for (const [what, numpy] of [
    [
      "starts a thread",
      "import threading, time\nthreading.Thread(target=time.sleep, args=(3600,), daemon=True).start()\n",
    ],
    ["ends the interpreter", "import os\nos._exit(7)\n"],
    ["is broken", "raise RuntimeError('broken')\n"],
  ] as const) {
    test(`${name}: a library that ${what} is not imported ahead, and calls run`, async () => {
      const own = join(folder, what.replaceAll(" ", "-"));
      await Bun.spawn([python, "-m", "venv", "--without-pip", own]).exited;
      const [version = ""] = await readdir(join(own, "lib"));
      await Bun.write(join(own, "lib", version, "site-packages", "numpy.py"), numpy);
      await using sandbox = await make({ python: join(own, "bin", "python"), concurrency: 2 });
      for (let call = 0; call < 3; call++) {
        const { stdout } = await exec(sandbox, "import sys\nprint('numpy' in sys.modules)");
        expect(stdout.head).toBe("False\n");
      }
      expect(sandbox.isolation()).toMatchObject({ backend: "zygote", level: "root" });
    });
  }

  test(`${name}: a module that was asked for and is missing is refused before anything runs`, () => {
    const asked = {
      backend: "zygote",
      level: "root",
      python,
      preload: ["no_such_module"],
    } as const;
    expect(createSandbox(asked)).rejects.toThrow("no_such_module");
  });
});
