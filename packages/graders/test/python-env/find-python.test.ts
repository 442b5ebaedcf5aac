import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findPython } from "../../src/index.ts";

/** Processes are started: on a busy machine that takes its time. */
setDefaultTimeout(300_000);

const folder = await mkdtemp(join(tmpdir(), "interlace-find-python-"));
afterAll(() => rm(folder, { recursive: true }));

/** A program that answers the probe like an interpreter would. */
async function fakePython(name: string, script: string): Promise<string> {
  const path = join(folder, name);
  await Bun.write(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

test("the usual names lead to a real interpreter of 3.11 or newer", async () => {
  const found = await findPython();
  if (!found.ok) throw new Error(found.detail);
  const asked = Bun.spawnSync([
    found.python,
    "-c",
    "import os, sys; print(sys.version_info >= (3, 11), os.path.islink(sys.executable))",
  ]);
  expect(asked.stdout.toString()).toBe("True False\n");
});

test("a shim is resolved to what it starts", async () => {
  const shim = await fakePython("shim", `echo '["/opt/versions/3.12/bin/python3.12", 3, 12]'`);
  expect(await findPython(shim)).toEqual({
    ok: true,
    python: "/opt/versions/3.12/bin/python3.12",
    version: "3.12",
  });
});

test("too old, not starting, silly or missing ones are refused with what was seen", async () => {
  const old = await fakePython("old", `echo '["/usr/bin/python3.9", 3, 9]'`);
  const broken = await fakePython("broken", "exit 127");
  const silly = await fakePython("silly", "echo Python");
  const refused = async (path: string) => {
    const found = await findPython(path);
    return found.ok ? "" : found.detail;
  };
  const expected = "Expected Python 3.11 or newer, found: ";
  expect(await refused(old)).toBe(`${expected}/usr/bin/python3.9 is 3.9`);
  expect(await refused(broken)).toBe(`${expected}${broken} does not start`);
  expect(await refused(silly)).toBe(`${expected}${silly} does not start`);
  expect(await refused("python-of-nowhere")).toBe(`${expected}no python-of-nowhere in the PATH`);
});
