/** A small share of `bun run fuzz`: every reader meets damaged bytes, and refuses them in its own words. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { mutate, randomFrom } from "../../fuzz/mutate.ts";
import { ROOT } from "../../workspace.ts";

test("4,000 inputs over all readers, no finding", async () => {
  const program = join(ROOT, "tools/fuzz/main.ts");
  const child = Bun.spawn([process.execPath, program, "4000", "--seed", "1", "--no-growth"], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const [printed, code] = await Promise.all([new Response(child.stdout).text(), child.exited]);
  expect(printed).toMatch(/\n40\d\d inputs, 0 findings\n$/);
  expect(code).toBe(0);
}, 600_000);

test("an input is made again from its number", () => {
  const examples = [new TextEncoder().encode("It is \\boxed{42}.")];
  const made = (index: number) => mutate(examples, ["}"], randomFrom(index));
  expect(made(7)).toEqual(made(7));
  const all = Array.from({ length: 200 }, (_, i) => Buffer.from(made(i)).toString("hex"));
  expect(new Set(all).size).toBeGreaterThan(150);
});
