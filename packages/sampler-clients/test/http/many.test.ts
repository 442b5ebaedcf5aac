/**
 * 4,096 requests in flight at once. Bun takes 256 unless BUN_CONFIG_MAX_HTTP_REQUESTS says more before it starts, so
 * the client runs in a process of its own, as the launcher starts it; the server holds every answer back until all
 * requests have arrived, which a smaller limit would never let happen.
 */
import { expect, test } from "bun:test";
import { join } from "node:path";

test("4,096 requests are in flight at once", async () => {
  const child = Bun.spawn(["bun", join(import.meta.dir, "../support/many-in-flight.ts"), "4096"], {
    env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: "8192" },
    stdout: "pipe",
    stderr: "inherit",
  });
  expect((await child.stdout.text()).trim()).toBe("4096 in flight, 4096 answered");
}, 60_000);
