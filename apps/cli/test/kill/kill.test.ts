/** A run that is killed at random moments and goes on: nothing is lost, nothing is done twice, the files are the same. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { newFolder, onlyRun, runCli, spawnCli, waitForText } from "../support/cli.ts";
import { readStep } from "../support/read-step.ts";
import { survive } from "./survive.ts";

setDefaultTimeout(300_000);

test("killed up to 15 times, a run ends as one that nobody disturbed", async () => {
  const folder = newFolder();
  const survival = await survive({
    folder,
    seed: 11,
    steps: 2,
    problems: 7,
    groupSize: 6,
    slowMs: 6,
    maxKills: 15,
    maxAsked: 8,
    random: Math.random,
  });
  expect(survival.wrong).toEqual([]);
  // On a busy machine a kill comes late, and the run may be done before the last of them.
  expect(survival.kills).toBeGreaterThanOrEqual(8);
  expect(survival.hits).toBeGreaterThan(5);
  rmSync(folder, { recursive: true });
});

test("the command itself, with the policy in the box and its sandbox, killed twice", async () => {
  const cwd = newFolder();
  const asked = ["rollout", "--problems", "3", "--group-size", "4", "--seed", "9"];
  const quiet = await runCli([...asked, "--out", "quiet"], cwd);
  expect(quiet.code).toBe(0);

  mkdirSync(join(cwd, "killed"));
  const commands = [[...asked, "--out", "killed"], null];
  for (const command of commands) {
    const args = command ?? ["rollout", "--resume", onlyRun(join(cwd, "killed"))];
    const child = spawnCli(args, cwd);
    await waitForText(child.stderr, "data     ");
    // From here to its end it samples, runs code, grades and writes.
    await Bun.sleep(Math.random() * 150);
    child.kill("SIGKILL");
    await child.exited;
  }
  const run = onlyRun(join(cwd, "killed"));
  expect(existsSync(join(run, "run.json"))).toBe(true);
  const resumed = await runCli(["rollout", "--resume", run], cwd);
  expect(resumed).toMatchObject({ code: 0 });
  const [seen, expected] = await Promise.all([
    readStep(run),
    readStep(onlyRun(join(cwd, "quiet"))),
  ]);
  expect(seen.trajectories).toHaveLength(12);
  expect(seen.datums).toEqual(expected.datums);
  expect(seen.trajectories).toEqual(expected.trajectories);
  expect(seen.ledger).toEqual(expected.ledger);
  expect((await runCli(["verify", run], cwd)).code).toBe(0);
  rmSync(cwd, { recursive: true });
});
