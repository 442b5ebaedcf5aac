import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { findPython } from "../../src/python/find-python.ts";
import "../conformance/patience.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "shims-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function script(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await Bun.write(path, text);
  await chmod(path, 0o755);
  return path;
}

test("a shim is resolved to the interpreter behind it", async () => {
  const real = await findPython();
  const shim = await script("shim", `#!/bin/sh\nexec "${real.executable}" "$@"\n`);
  expect((await findPython(shim)).executable).toBe(real.executable);
});

test("a virtual environment keeps its own packages", async () => {
  const { executable } = await findPython();
  const place = join(folder, "venv");
  await Bun.spawn([executable, "-m", "venv", "--without-pip", place]).exited;
  const inside = await findPython(join(place, "bin", "python"));
  expect(inside.executable).toBe(join(place, "bin", "python"));
  expect(inside.packages.filter((entry) => entry.startsWith(place))).toHaveLength(1);
  expect(inside.prefixes).toContain(place);
});

test("packages and library are what starts with and without packages have", async () => {
  const { executable } = await findPython();
  const place = join(folder, "both");
  await Bun.spawn([executable, "-m", "venv", "--without-pip", place]).exited;
  const [site] = (await findPython(join(place, "bin", "python"))).packages;
  await Bun.write(join(site ?? "", "more.pth"), `${folder}\n`);
  for (const python of [executable, join(place, "bin", "python")]) {
    const program =
      "import os, sys; print('\\n'.join(e for e in sys.path if e and os.path.exists(e)))";
    const started = async (...flags: readonly string[]): Promise<readonly string[]> => {
      const child = Bun.spawn([python, ...flags, "-c", program], { stdout: "pipe" });
      return (await child.stdout.text()).trimEnd().split("\n");
    };
    const [bare, full] = [await started("-I", "-S", "-B"), await started("-I", "-B")];
    const found = await findPython(python);
    expect(found.library).toEqual(bare);
    expect(found.packages).toEqual(full.filter((entry) => !bare.includes(entry)));
  }
});

test("a missing interpreter is an error for a person", () => {
  expect(findPython("no-such-python")).rejects.toThrow(
    'Expected Python 3.11 or later as "no-such-python" to run the model\'s code, found no such program',
  );
});

test("a program that is no Python is refused", () => {
  expect(findPython("false")).rejects.toThrow("did not run a small program");
});

test("an old Python is refused with what was found", async () => {
  const answer = `{"executable":"/old/python3","prefixes":["/old"],"version":[3,10,4],"path":[]}`;
  const old = await script("old", `#!/bin/sh\necho '${answer}'\n`);
  expect(findPython(old)).rejects.toThrow("found 3.10.4 at /old/python3");
});
