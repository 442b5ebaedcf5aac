/**
 * Bun drops a fetch whose connection is idle for minutes. Its limit is lowered to two seconds in a process of its
 * own: a plain fetch then fails, ours waits. With INTERLACE_LONG_TESTS=1 the same with the real limit and a first
 * byte after ten minutes.
 */
import { expect, test } from "bun:test";
import { join } from "node:path";

const SCRIPT = join(import.meta.dir, "../support/stalled-fetch.ts");

async function run(
  who: "plain" | "ours",
  stallMs: number,
  env: Record<string, string>,
): Promise<string> {
  const child = Bun.spawn(["bun", SCRIPT, who, String(stallMs)], {
    env: { ...process.env, ...env },
    stdout: "pipe",
    stderr: "inherit",
  });
  return (await child.stdout.text()).trim();
}

test("a first byte later than Bun's own idle limit arrives", async () => {
  const env = { BUN_CONFIG_HTTP_IDLE_TIMEOUT: "1" };
  const [plain, ours] = await Promise.all([run("plain", 9_000, env), run("ours", 9_000, env)]);
  expect(plain).toStartWith("failed");
  expect(ours).toBe("late");
}, 60_000);

const long = process.env["INTERLACE_LONG_TESTS"] === "1";
test.skipIf(!long)(
  "a first byte after ten minutes arrives",
  async () => {
    expect(await run("ours", 610_000, {})).toBe("late");
  },
  700_000,
);
