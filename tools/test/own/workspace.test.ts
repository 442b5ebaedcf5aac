import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { ROOT, requirePinnedBun, SetupError, STATE, withLock } from "../../workspace.ts";

test("an older Bun is refused with the command to type instead", () => {
  const refuse = (): void => requirePinnedBun("1.3.9");
  expect(refuse).toThrow(SetupError);
  expect(refuse).toThrow(
    /Expected Bun (\S+) or newer, this is 1\.3\.9; start it as: npx -y bun@\1 run/,
  );
  requirePinnedBun();
  requirePinnedBun("99.0.0");
});

test("a lock is held by one process at a time and ends with its holder, however that ends", async () => {
  const name = `test-${process.pid}`;
  const program = `
    import { withLock } from ${JSON.stringify(join(ROOT, "tools/workspace.ts"))};
    await withLock(${JSON.stringify(name)}, async () => {
      console.log("held");
      await Bun.stdin.text();
    });`;
  const hold = (): Bun.Subprocess<"pipe", "pipe", "inherit"> =>
    Bun.spawn([process.execPath, "-e", program], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    });
  const first = hold();
  const said = first.stdout.getReader();
  await said.read();
  const second = hold();
  let isSecondIn = false;
  const entered = second.stdout
    .getReader()
    .read()
    .then(() => {
      isSecondIn = true;
      return null;
    });
  // Two whole processes come and go meanwhile: time enough for the second to get in if it could.
  for (const _ of [1, 2]) await Bun.spawn([process.execPath, "-e", "0"]).exited;
  expect(isSecondIn).toBe(false);
  first.kill("SIGKILL");
  await entered;
  await second.stdin.end();
  expect(await second.exited).toBe(0);
  expect(await withLock(name, () => Promise.resolve("free"))).toBe("free");
  rmSync(join(STATE, `${name}.lock`));
});
