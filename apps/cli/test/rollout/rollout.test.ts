/** `interlace rollout` as a whole: spawned, with the policy in the box and a real Python sandbox. */
import { afterAll, beforeAll, describe, expect, test, setDefaultTimeout } from "bun:test";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { newFolder, onlyRun, runCli, spawnCli, waitForText, type Ended } from "../support/cli.ts";
import { readStep, type StepFiles } from "../support/read-step.ts";

// Spawned processes share two cores with everything else.
setDefaultTimeout(120_000);

const SMALL = ["rollout", "--problems", "6"];

let folder = "";
let first: Ended;
let reference: StepFiles;
beforeAll(async () => {
  folder = newFolder();
  first = await runCli([...SMALL, "--out", "first"], folder);
  reference = await readStep(onlyRun(join(folder, "first")));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("one run", () => {
  test("ends well, with results on stdout and progress on stderr, without control codes", () => {
    expect(first.code).toBe(0);
    expect(first.stderr).toMatch(/sandbox {2}.+/);
    expect(first.stderr).toMatch(/step 0 +48\/48 trajectories +100% .*reward [+−]\d/);
    expect(first.stdout).toMatch(/^assistant +<tool_call>/m);
    expect(first.stdout).toContain("Step 0: 6 problems × 8 = 48 trajectories");
    expect(first.stdout).not.toContain("trajectories   100%");
    // oxlint-disable-next-line no-control-regex -- control codes are what must not be there
    expect(first.stdout + first.stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });

  test("the shown trajectory is right, and its tool really ran", () => {
    const [, answer = ""] = /reference answer (\d+)/.exec(first.stdout) ?? [];
    expect(first.stdout).toMatch(new RegExp(`^tool +${answer}$`, "m"));
    expect(first.stdout).toContain("reward +1.00 (right)");
  });

  test("asked = exported + dropped, and as many rows lie in the files", () => {
    const { total, exported, dropped } = reference.ledger.trajectories;
    expect(total).toBe(48);
    expect(exported + Object.values(dropped).reduce((sum, n) => sum + n, 0)).toBe(48);
    expect(reference.datums).toHaveLength(exported);
    expect(reference.trajectories).toHaveLength(48);
    const correct = reference.trajectories.filter((row) => row["correct"] === true);
    expect(correct.length).toBeGreaterThan(0);
    expect(correct.length).toBeLessThan(48);
  });

  test("the metadata holds what a learner must know", () => {
    expect(reference.datums_metadata).toMatchObject({
      group_size: "8",
      temperature: "1",
      top_k: "off",
      logprob_kind: "temperature_scaled",
      max_context_tokens: "512",
      seed: "42",
      advantage_estimator: "group_centred",
    });
  });

  test("the run folder is laid out as documented", () => {
    const run = onlyRun(join(folder, "first"));
    const shown = (path: string) => readdirSync(path).filter((name) => !name.startsWith("."));
    expect(shown(run).toSorted()).toEqual(["metrics.jsonl", "run.json", "step-000000"]);
    expect(shown(join(run, "step-000000")).toSorted()).toEqual([
      "datums.arrow",
      "events.jsonl",
      "ledger.json",
      "trajectories.arrow",
    ]);
    const metrics = readFileSync(join(run, "metrics.jsonl"), "utf8").split("\n");
    expect(metrics).toHaveLength(2);
    expect(JSON.parse(metrics[0] ?? "")).toMatchObject({
      step: 0,
      "train/datums_per_rollout_batch": reference.datums.length,
    });
  });
});

describe("the same", () => {
  test("the other schedule gives the same datums, trajectories and ledger", async () => {
    const { code } = await runCli([...SMALL, "--out", "rounds", "--schedule", "rounds"], folder);
    expect(code).toBe(0);
    expect(await readStep(onlyRun(join(folder, "rounds")))).toEqual(reference);
  });

  test("another seed gives other datums", async () => {
    await runCli([...SMALL, "--out", "seed", "--seed", "43"], folder);
    const other = await readStep(onlyRun(join(folder, "seed")));
    expect(other.datums).not.toEqual(reference.datums);
  });

  test.each(["SIGINT", "SIGKILL"] as const)(
    "a run that %s cut off goes on to what it would have been",
    async (signal) => {
      const out = join(folder, signal);
      const child = spawnCli([...SMALL, "--out", out], folder);
      const said = new Response(child.stdout).text();
      await waitForText(child.stderr, "/48 trajectories");
      // Stood still, so that it cannot end meanwhile on a slow machine; it still owns its run.
      child.kill("SIGSTOP");
      const run = onlyRun(out);
      // A second process on the same run is refused, and told who works on it.
      const second = await runCli(["rollout", "--resume", run], folder);
      child.kill(signal);
      child.kill("SIGCONT");
      const code = await child.exited;
      expect(second.code).toBe(2);
      expect(second.stderr).toContain(`is in use by process ${child.pid}`);
      if (signal === "SIGINT") expect(code).toBe(1);
      expect(await said).toBe("");
      expect(readdirSync(join(run, "step-000000"))).toEqual(["events.jsonl"]);

      const resumed = await runCli(["rollout", "--resume", run], folder);
      expect(resumed.code).toBe(0);
      expect(resumed.stderr).toMatch(/going on after \d+ recorded answers/);
      expect(await readStep(run)).toEqual(reference);
    },
  );

  test("one step more of a run is the second step of a run of two", async () => {
    const run = join(folder, "copy");
    cpSync(onlyRun(join(folder, "first")), run, { recursive: true });
    const more = await runCli(["rollout", "--resume", run, "--steps", "2"], folder);
    expect(more.code).toBe(0);
    const both = await runCli([...SMALL, "--steps", "2", "--out", "two", "--json"], folder);
    const two = onlyRun(join(folder, "two"));
    expect(await readStep(two, 0)).toEqual(reference);
    expect(await readStep(two, 1)).toEqual(await readStep(run, 1));
    const json = JSON.parse(both.stdout) as { readonly steps: readonly unknown[] };
    expect(json).toMatchObject({
      end: "complete",
      path: join("two", two.split("/").at(-1) ?? ""),
    });
    expect(json.steps).toHaveLength(2);
    const done = await runCli(["rollout", "--resume", run, "--steps", "2"], folder);
    expect(done).toMatchObject({ code: 0 });
    expect(done.stdout).toContain("is complete");
  });

  test("a resumed run keeps its configuration", async () => {
    const run = onlyRun(join(folder, "first"));
    const { code, stderr } = await runCli(["rollout", "--resume", run, "--seed", "7"], folder);
    expect(code).toBe(2);
    expect(stderr).toContain("rollout.seed is 42 in run");
    expect(stderr).toContain("--seed says 7");
  });
});

test("--print-config says each value and where it came from, and starts nothing", async () => {
  const cwd = newFolder();
  const { code, stdout } = await runCli(["rollout", "--print-config", "--group-size", "3"], cwd, {
    INTERLACE_ROLLOUT_SEED: "7",
  });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^group_size = 3 +# --group-size$/m);
  expect(stdout).toMatch(/^seed = 7 +# INTERLACE_ROLLOUT_SEED$/m);
  expect(stdout).toMatch(/^max_assistant_tokens = 96 +# preset embedded$/m);
  expect(stdout).toMatch(/^temperature = 1 +# default$/m);
  expect(existsSync(join(cwd, "runs"))).toBe(false);
  rmSync(cwd, { recursive: true });
});
