/** The README's recording and its learner hold for a real run. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newFolder, PYTHON, runCli, type Ended } from "./support/cli.ts";

// Spawned processes share two cores with everything else.
setDefaultTimeout(120_000);

const ROOT = join(import.meta.dir, "../../..");

let folder = "";
let readme = "";
let ended: Ended;
beforeAll(async () => {
  folder = newFolder();
  readme = await Bun.file(join(ROOT, "README.md")).text();
  ended = await runCli(["rollout"], folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Identities, clocks and what they decide: the machine's, not the seed's. */
const VARIES = /^(run|sandbox|step 0) |^ {2}(sandbox|time|files) |^\$/;

test("the recording is what the command prints, but for names and times", () => {
  const [, recording = ""] = /```text\n(\$ bun run rollout\n[^]*?)```/.exec(readme) ?? [];
  const lines = recording.trimEnd().split("\n");
  expect(lines.length).toBeGreaterThan(30);
  const seen = (ended.stderr + ended.stdout).split("\n");
  expect(lines.filter((line) => !VARIES.test(line) && !seen.includes(line))).toEqual([]);
});

test("the learner's block trains on the run, and its ratio begins at 1", async () => {
  const [, block = ""] = /```python\n([^]*?)```/.exec(readme) ?? [];
  const check = `        worst = max(worst, float(((logprobs - old).abs() * mask).max()))\n`;
  const program = `worst = 0.0\n${block}print(worst, all(p.grad is not None for p in policy.parameters()))\n`;
  const watched = program.replace(/^ +reduce_per_sample\(/m, (line) => check + line);
  writeFileSync(join(folder, "learn.py"), watched);
  symlinkSync(join(ROOT, "packages"), join(folder, "packages"));
  const child = Bun.spawn([PYTHON, "learn.py"], {
    cwd: folder,
    env: {
      PATH: process.env["PATH"] ?? "",
      PYTHONPATH: "packages/train-bridge/python/src",
      // Two threads on a busy machine wait for each other.
      OMP_NUM_THREADS: "1",
    },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(stderr);
  const [worst = "", trained] = stdout.trim().split(" ");
  expect(trained).toBe("True");
  expect(Number(worst)).toBeGreaterThan(0);
  expect(Number(worst)).toBeLessThan(5e-4);
});
