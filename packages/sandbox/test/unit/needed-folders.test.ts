import { mkdir, mkdtemp, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { createSandbox, findPython } from "../../src/index.ts";
import { foldersPythonNeeds } from "../../src/python/needed-folders.ts";
import { exec } from "../conformance/harness.ts";
import "../conformance/patience.ts";

test("no folder lies inside another, and none is the root", async () => {
  const folders = foldersPythonNeeds(await findPython());
  expect(folders).not.toContain("/");
  for (const folder of folders) {
    expect(folders.filter((other) => folder.startsWith(`${other}/`))).toEqual([]);
  }
});

test("an environment behind a link is seen by both its names, in the jail too", async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "linked-")));
  try {
    const real = join(folder, "real");
    const linked = join(folder, "linked");
    const { executable } = await findPython();
    await Bun.spawn([executable, "-m", "venv", "--without-pip", real]).exited;
    await symlink("real", linked);
    const python = await findPython(join(linked, "bin/python"));
    expect(foldersPythonNeeds(python)).toEqual(expect.arrayContaining([real, linked]));
    const packages = python.packages.find((path) => path.startsWith(linked))!;
    await mkdir(join(packages, "only_here"));
    await Bun.write(join(packages, "only_here/__init__.py"), "answer = 42\n");
    await using sandbox = await createSandbox({ python: python.executable });
    const { stdout } = await exec(sandbox, "import only_here; print(only_here.answer)");
    expect(stdout.head).toBe("42\n");
    expect(sandbox.isolation().backend).toBe(process.platform === "linux" ? "zygote" : "process");
  } finally {
    await rm(folder, { recursive: true });
  }
}, 30_000);
