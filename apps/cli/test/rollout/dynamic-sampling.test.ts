/** Dynamic sampling, another estimator and shaped rewards through the whole command: export, resume, verify, replay. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  askPython,
  newFolder,
  onlyRun,
  runCli,
  spawnCli,
  waitForText,
  type Ended,
} from "../support/cli.ts";
import { readStep } from "../support/read-step.ts";

// Spawned processes share two cores with everything else.
setDefaultTimeout(240_000);

const SETTINGS = `
[data]
questions_per_batch = 3
[rollout]
group_size = 4
max_assistant_tokens = 30
[dynamic_sampling]
enabled = true
max_problems = 12
[advantage]
estimator = "grpo_std"
[reward]
shaping = "retool_cap0_turns"
`;
const ARGS = ["rollout", "--config", "settings.toml", "--steps", "2", "--require", "none"];

/** Advantages and weights again, from the rewards in the table alone. */
const ORACLE = `
import json, sys
import numpy as np
import pyarrow.ipc as ipc

folder = sys.argv[1]
rows = ipc.open_file(folder + "/trajectories.arrow").read_all().to_pylist()
datums = ipc.open_file(folder + "/datums.arrow").read_all().to_pylist()
groups = {}
for row in rows:
    groups.setdefault(row["question_index"], []).append(row)
out = {"met": len(groups), "with_signal": 0, "shaped": 0, "aside": 0}
scored = 0
for group in groups.values():
    assert [row["group_index"] for row in group] == list(range(4))
    unscored = [row for row in group if row["reward"] is None]
    assert all(row["no_datum"] == "unscored" and row["advantage"] is None for row in unscored)
    group = [row for row in group if row["reward"] is not None]
    rewards = np.array([row["reward"] for row in group])
    for row in group:
        turns = 1 + len(row["turns"]) + row["code_calls"]
        expected = 1.0 if row["correct"] else min(0.0, -1 + (turns - 2) / 2 * 0.1)
        assert abs(row["reward"] - expected) < 1e-12, row["reward"]
        out["shaped"] += expected not in (1.0, -1.0)
    if len(group) == 0 or (rewards == rewards[0]).all():
        assert all(row["no_datum"] == "no_signal" and row["advantage"] == 0 for row in group)
        out["aside"] += len(group)
        continue
    out["with_signal"] += 1
    scored += len(group)
    wanted = (rewards - rewards.mean()) / (rewards.std(ddof=1) + 1e-6)
    assert np.allclose([row["advantage"] for row in group], wanted, rtol=1e-12)
for row in datums:
    mask = np.array(row["loss_mask"], dtype=bool)
    source = groups[row["question_index"]][row["group_index"]]
    assert np.allclose(np.array(row["advantages"])[mask], np.float32(source["advantage"]))
batches = {}
for row in datums:
    batches.setdefault(row["micro_batch"], []).append(row["sample_weight"])
for weights in batches.values():
    assert np.allclose(weights, np.float32(len(weights) / scored))
out["datums"] = len(datums)
json.dump(out, sys.stdout)
`;

let folder = "";
let ended: Ended;
let run = "";
beforeAll(async () => {
  folder = newFolder();
  writeFileSync(join(folder, "settings.toml"), SETTINGS);
  ended = await runCli([...ARGS, "--out", "whole"], folder);
  run = onlyRun(join(folder, "whole"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const stepOf = (path: string, step: number) => join(path, `step-00000${step}`);

describe("dynamic sampling", () => {
  test("each batch has the groups with a signal that were asked for, and its ledger says what was set aside", async () => {
    expect(ended.code).toBe(0);
    for (const step of [0, 1]) {
      const seen = (await askPython(ORACLE, [stepOf(run, step)])) as Readonly<
        Record<string, number>
      >;
      expect(seen["with_signal"]).toBe(3);
      expect(seen["met"]).toBeGreaterThanOrEqual(3);
      const { ledger } = await readStep(run, step);
      expect(ledger.trajectories.total).toBe(4 * (seen["met"] ?? 0));
      expect(ledger.trajectories.exported).toBe(seen["datums"] ?? 0);
      expect(ledger.trajectories.dropped["no_signal"] ?? 0).toBe(seen["aside"] ?? NaN);
    }
    const aside = await Promise.all([0, 1].map((step) => readStep(run, step)));
    expect(aside.some(({ ledger }) => (ledger.trajectories.dropped["no_signal"] ?? 0) > 0)).toBe(
      true,
    );
  });

  test("the next step goes on behind the problems that this one met", async () => {
    const ids = async (step: number) => [
      ...new Set((await readStep(run, step)).trajectories.map((row) => row["problem_id"])),
    ];
    const [first, second] = [await ids(0), await ids(1)];
    const order = [...first, ...second].map((id) => Number(String(id).split("-").at(-1)));
    expect(order).toEqual(order.map((_, i) => i));
  });

  test("verify holds it, replay gives it byte for byte", async () => {
    const verified = await runCli(["verify", run], folder);
    expect(verified.stdout).toContain("rules hold");
    expect(verified.code).toBe(0);
    const replayed = await runCli(["replay", run], folder);
    expect(replayed.stdout.match(/byte for byte/g)).toHaveLength(2);
    expect(replayed.code).toBe(0);
  });

  test("the other schedule and a kill in the middle give the same", async () => {
    const want = await Promise.all([0, 1].map((step) => readStep(run, step)));
    await runCli([...ARGS, "--schedule", "rounds", "--out", "rounds"], folder);
    const rounds = onlyRun(join(folder, "rounds"));
    expect(await Promise.all([0, 1].map((step) => readStep(rounds, step)))).toEqual(want);

    const child = spawnCli([...ARGS, "--out", "killed"], folder);
    await waitForText(child.stderr, "step 1  ");
    child.kill("SIGKILL");
    await child.exited;
    const killed = onlyRun(join(folder, "killed"));
    expect((await runCli(["rollout", "--resume", killed], folder)).code).toBe(0);
    expect(await Promise.all([0, 1].map((step) => readStep(killed, step)))).toEqual(want);
  });

  test("a refill that finds too little ends at its bound, and says so", async () => {
    writeFileSync(
      join(folder, "none.toml"),
      SETTINGS.replace("= 12", "= 4").replace("= 30", "= 4"),
    );
    const args = ["rollout", "--config", "none.toml", "--require", "none", "--out", "none"];
    const { code, stderr } = await runCli(args, folder);
    expect(code).toBe(0);
    expect(stderr).toContain("3 groups with a signal not found in 4 problems");
    const { ledger } = await readStep(onlyRun(join(folder, "none")));
    expect(ledger.trajectories).toEqual({ total: 16, exported: 0, dropped: { no_signal: 16 } });
  });
});

describe("over-sampling", () => {
  const OVER = SETTINGS.replace("enabled = true", "enabled = true\noversample = 2");
  const args = ["rollout", "--config", "over.toml", "--steps", "3", "--require", "none"];
  const questionsOf = async (path: string, step: number) => [
    ...new Set((await readStep(path, step)).trajectories.map((row) => row["question_index"])),
  ];
  const logOf = (path: string, step: number) =>
    readFileSync(join(stepOf(path, step), "events.jsonl"), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { readonly type: string } & Record<string, unknown>);
  const carriedOf = (path: string, step: number) =>
    logOf(path, step).find(({ type }) => type === "selected")?.["carried"] as readonly {
      readonly question: number;
      readonly position: number;
    }[];

  let over: Ended;
  beforeAll(async () => {
    writeFileSync(join(folder, "over.toml"), OVER);
    over = await runCli([...args, "--out", "over"], folder);
  });

  test("groups under way go on in the next batch: verified and replayed, each problem once", async () => {
    expect(over.code).toBe(0);
    expect(over.stderr).toContain("still under way, carried into the next batch");
    const path = onlyRun(join(folder, "over"));
    const ids: unknown[] = [];
    for (const step of [0, 1, 2]) {
      const seen = (await askPython(ORACLE, [stepOf(path, step)])) as Record<string, number>;
      expect(seen["with_signal"]).toBeGreaterThanOrEqual(3);
      const { trajectories, ledger } = await readStep(path, step);
      expect(ledger.trajectories.total).toBe(trajectories.length);
      ids.push(...new Set(trajectories.map((row) => row["problem_id"])));
      // What was carried in comes first, and is complete or carried on.
      const before = step === 0 ? [] : carriedOf(path, step - 1);
      const questions = await questionsOf(path, step);
      const after = carriedOf(path, step).map(({ question }) => question);
      for (const place of before.keys()) expect([...questions, ...after]).toContain(place);
    }
    // Every problem in one batch only, and none is passed over.
    expect(new Set(ids).size).toBe(ids.length);
    const rest = carriedOf(path, 2).map(({ position }) => position);
    const met = ids.map((id) => Number(String(id).split("-").at(-1)));
    expect([...met, ...rest].toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: met.length + rest.length }, (_, i) => i),
    );
    const verified = await runCli(["verify", path], folder);
    expect(verified.stdout).toContain("rules hold");
    expect(verified.code).toBe(0);
    const replayed = await runCli(["replay", path], folder);
    expect(replayed.stdout.match(/byte for byte/g)).toHaveLength(3);
  });

  test("cut in its second batch it goes on, and holds", async () => {
    const child = spawnCli([...args, "--out", "cut"], folder);
    await waitForText(child.stderr, "step 1  ");
    child.kill("SIGKILL");
    await child.exited;
    const path = onlyRun(join(folder, "cut"));
    expect((await runCli(["rollout", "--resume", path], folder)).code).toBe(0);
    expect((await runCli(["verify", path], folder)).stdout).toContain("rules hold");
    const replayed = await runCli(["replay", path], folder);
    expect(replayed.stdout.match(/byte for byte/g)).toHaveLength(3);
  });

  test("a batch that was chosen, but has no files yet, is not chosen again", async () => {
    const path = onlyRun(join(folder, "over"));
    const want = await readStep(path, 2);
    const metrics = readFileSync(join(path, "metrics.jsonl"), "utf8").split("\n");
    writeFileSync(join(path, "metrics.jsonl"), `${metrics.slice(0, 2).join("\n")}\n`);
    for (const name of ["datums.arrow", "trajectories.arrow", "ledger.json"]) {
      rmSync(join(stepOf(path, 2), name));
    }
    expect((await runCli(["rollout", "--resume", path], folder)).code).toBe(0);
    expect(await readStep(path, 2)).toEqual(want);
    const line = (text: string | undefined) =>
      (JSON.parse(text ?? "") as Record<string, number>)["rollout/problems"];
    const again = readFileSync(join(path, "metrics.jsonl"), "utf8").split("\n");
    expect(line(again[2])).toBe(line(metrics[2]));
  });
});

test("the files and the record name the estimator", async () => {
  expect((await readStep(run)).datums_metadata).toMatchObject({ advantage_estimator: "grpo_std" });
  const record = readFileSync(join(run, "run.json"), "utf8");
  expect(JSON.parse(record)).toMatchObject({ config: { "advantage.estimator": "grpo_std" } });
});
