/** What a machine does to a run: each told in one line, nothing half-written, and resumed when it is mended. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newFolder, runCli, waitForText } from "../support/cli.ts";
import { readStep, type StepFiles } from "../support/read-step.ts";
import { complaints, findRun, halfWritten, live, spawnLife } from "./lives.ts";

// Spawned processes share two cores with everything else.
setDefaultTimeout(300_000);

const quietFolder = newFolder();
await live(quietFolder);
const quiet = [
  await readStep(findRun(quietFolder) ?? "", 0),
  await readStep(findRun(quietFolder) ?? "", 1),
];

async function expectSameFiles(folder: string): Promise<void> {
  const run = findRun(folder) ?? "";
  for (const [step, expected] of quiet.entries()) {
    const seen = await readStep(run, step);
    for (const name of [
      "datums",
      "trajectories",
      "ledger",
    ] as const satisfies (keyof StepFiles)[]) {
      expect(seen[name]).toEqual(expected[name]);
    }
  }
}

/** Six are asked at once: a seventh follows an answer. */
const SOME_ANSWERED = "asked\n".repeat(9);

let folder = "";
beforeEach(() => {
  folder = newFolder();
});
afterEach(() => rmSync(folder, { recursive: true }));

describe.skipIf(!canMount())("a disk of its own (needs the right to mount)", () => {
  afterEach(() => sh("umount", folder));

  // Where it fills up: the record, the log, the first Arrow file, the second step's log.
  test.each([8, 40, 90, 230])("full after %i kB", async (kilobytes) => {
    sh("mount", "-t", "tmpfs", "-o", `size=${kilobytes}k`, "tmpfs", folder);
    const { code, stderr } = await live(folder);
    expect(code).toBe(1);
    const said = complaints(stderr);
    expect(said).toHaveLength(1);
    expect(said[0]).toContain("ENOSPC");
    expect(halfWritten(folder)).toEqual([]);
    sh("mount", "-o", "remount,size=20m", folder);
    expect(await live(folder)).toMatchObject({ code: 0 });
    await expectSameFiles(folder);
    expect((await runCli(["verify", findRun(folder) ?? ""], folder)).code).toBe(0);
  });

  test("read-only: refused before any work, and goes on when it can be written again", async () => {
    sh("mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", folder);
    await live(folder, { steps: 1 });
    sh("mount", "-o", "remount,ro", folder);
    const fresh = await live(folder, { resume: null });
    expect(fresh.code).toBe(1);
    expect(complaints(fresh.stderr)).toEqual([expect.stringMatching(/Cannot make .*read-only/i)]);
    const resumed = await live(folder, { steps: 2 });
    expect(resumed.code).toBe(1);
    expect(complaints(resumed.stderr)).toEqual([expect.stringMatching(/Cannot .*read-only/i)]);
    sh("mount", "-o", "remount,rw", folder);
    expect(await live(folder)).toMatchObject({ code: 0 });
    await expectSameFiles(folder);
  });
});

test("two processes on one run: the second is told who has it, the first goes on", async () => {
  const first = spawnLife(folder, { slowMs: 60 });
  await waitForText(first.stdout, SOME_ANSWERED);
  const second = await live(folder);
  expect(second.code).toBe(2);
  expect(complaints(second.stderr)).toEqual([
    expect.stringContaining(`is in use by process ${first.pid} on `),
  ]);
  expect(await first.exited).toBe(0);
  await expectSameFiles(folder);
});

describe("the event log", () => {
  test("deleted before a resume: told, and the step is rolled out from its beginning", async () => {
    const first = spawnLife(folder, { slowMs: 60 });
    await waitForText(first.stdout, SOME_ANSWERED);
    first.kill("SIGKILL");
    await first.exited;
    rmSync(join(findRun(folder) ?? "", "step-000000/events.jsonl"));
    const { code, stderr } = await live(folder);
    expect(code).toBe(0);
    expect(stderr).toContain("nothing of it is recorded, it is rolled out from its beginning");
    await expectSameFiles(folder);
  });

  test("deleted while it is written: nothing is exported that nobody could check", async () => {
    const first = spawnLife(folder, { slowMs: 60 });
    const stderr = new Response(first.stderr).text();
    await waitForText(first.stdout, SOME_ANSWERED);
    rmSync(join(findRun(folder) ?? "", "step-000000/events.jsonl"));
    expect(await first.exited).toBe(1);
    expect(complaints(await stderr)).toEqual([
      expect.stringContaining("was deleted while it was written"),
    ]);
    expect(await live(folder)).toMatchObject({ code: 0 });
    await expectSameFiles(folder);
  });

  test("deleted afterwards: verify says what it cannot check, replay names the file", async () => {
    await live(folder);
    const run = findRun(folder) ?? "";
    for (const step of [0, 1]) rmSync(join(run, `step-00000${step}/events.jsonl`));
    const verified = await runCli(["verify", run], folder);
    expect(verified.code).toBe(0);
    expect(verified.stdout).toMatch(/event_log +not checked: needs step-00000\d\/events.jsonl/);
    const replayed = await runCli(["replay", run], folder);
    expect(replayed.code).toBe(1);
    expect(complaints(replayed.stderr)).toEqual([
      expect.stringMatching(/Cannot read .*events.jsonl/),
    ]);
  });

  test("written by a clock that was a day ahead: times stay in order, nothing else notices", async () => {
    const first = spawnLife(folder, { slowMs: 60 });
    await waitForText(first.stdout, SOME_ANSWERED);
    first.kill("SIGKILL");
    await first.exited;
    const path = join(findRun(folder) ?? "", "step-000000/events.jsonl");
    const ahead = (_: string, name: string, time: string) =>
      `"${name}":${Number(time) + 86_400_000}`;
    writeFileSync(path, readFileSync(path, "utf8").replaceAll(/"(t|started)":([\d.]+)/g, ahead));
    expect(await live(folder)).toMatchObject({ code: 0 });
    // readStep asserts start ≤ end of every turn.
    await expectSameFiles(folder);
  });
});

describe("files of another version", () => {
  test.each([
    [
      "run.json",
      '"v": 1',
      '"v": 2',
      "run.json has format 2, this version reads 1: use Interlace 0.",
    ],
    [
      "step-000000/events.jsonl",
      '{"v":1',
      '{"v":2',
      "events.jsonl has format 2, this version reads 1",
    ],
    ["run.json", '"run.schedule"', '"run.tempo"', 'holds a setting "run.tempo" that this version'],
  ])(
    "%s of a newer one is refused in one line and left as it is",
    async (name, old, newer, line) => {
      const first = spawnLife(folder, { slowMs: 60 });
      await waitForText(first.stdout, SOME_ANSWERED);
      first.kill("SIGKILL");
      await first.exited;
      const path = join(findRun(folder) ?? "", name);
      const text = readFileSync(path, "utf8");
      writeFileSync(path, text.replaceAll(old, newer));
      const { code, stderr } = await live(folder);
      expect(code).toBeGreaterThan(0);
      expect(complaints(stderr)).toEqual([expect.stringContaining(line)]);
      expect(readFileSync(path, "utf8")).toBe(text.replaceAll(old, newer));
      writeFileSync(path, text);
      expect(await live(folder)).toMatchObject({ code: 0 });
      await expectSameFiles(folder);
    },
  );
});

function canMount(): boolean {
  const probe = newFolder();
  const mounted = Bun.spawnSync(["mount", "-t", "tmpfs", "tmpfs", probe]).success;
  if (mounted) sh("umount", probe);
  rmSync(probe, { recursive: true });
  return mounted;
}

function sh(...command: string[]): void {
  const { success, stderr } = Bun.spawnSync(command, { stderr: "pipe" });
  if (!success) throw new Error(`${command.join(" ")}: ${stderr.toString()}`);
}
