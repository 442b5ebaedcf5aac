import { afterEach, beforeEach, expect, test, setDefaultTimeout } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lockRun } from "../../src/run-folder/run-lock.ts";

// Spawned processes share two cores with everything else.
setDefaultTimeout(120_000);

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "interlace-lock-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const MODULE = join(import.meta.dir, "../../src/run-folder/run-lock.ts");

/** A process that holds the lock until its stdin ends. */
async function holder() {
  const code = `
    const { lockRun } = await import(${JSON.stringify(MODULE)});
    lockRun(${JSON.stringify(folder)});
    console.log("locked");
    for await (const _ of Bun.stdin.stream()) {}
  `;
  const child = Bun.spawn([process.execPath, "-e", code], { stdin: "pipe", stdout: "pipe" });
  await child.stdout.getReader().read();
  return child;
}

test("a second process is refused, and told who holds the run", async () => {
  const child = await holder();
  expect(() => lockRun(folder)).toThrow(
    new RegExp(`${folder} is in use by process ${child.pid} on .+; wait for it to end`),
  );
  child.kill();
  await child.exited;
});

test("a lock ends with its process, even one that was killed", async () => {
  const child = await holder();
  child.kill("SIGKILL");
  await child.exited;
  lockRun(folder)[Symbol.dispose]();
});

test("a lock that was given back can be taken again", () => {
  lockRun(folder)[Symbol.dispose]();
  lockRun(folder)[Symbol.dispose]();
});
