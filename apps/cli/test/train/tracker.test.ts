/** `train` with a tracker: a library of its name that writes down what it is called with. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newFolder, onlyRun, PYTHON, runCli } from "../support/cli.ts";

setDefaultTimeout(120_000);

const WANDB = `
import json, os
def note(*call):
    with open(os.path.join(os.path.dirname(__file__), "calls"), "a") as file:
        file.write(json.dumps(call) + "\\n")
class Run:
    def log(self, metrics, step):
        note("log", step, metrics["reward/mean"])
    def finish(self, exit_code):
        note("finish", exit_code)
def init(**facts):
    note("init", facts)
    print("wandb: syncing")
    return Run()
`;

type Call = readonly [string, ...unknown[]];

async function train(flags: string, module: string | null) {
  const cwd = newFolder();
  if (module !== null) writeFileSync(join(cwd, "wandb.py"), module);
  process.env["PYTHONPATH"] = cwd;
  try {
    const common = `train --problems 2 --group-size 4 --steps 2 --save-every 0 --evaluate-every 0 --python ${PYTHON}`;
    const result = await runCli([...`${common} ${flags}`.split(" "), "--out", "runs"], cwd);
    const path = join(cwd, "calls");
    const calls = existsSync(path)
      ? readFileSync(path, "utf8")
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line) as Call)
      : [];
    return { result, calls, run: join(cwd, "runs") };
  } finally {
    delete process.env["PYTHONPATH"];
  }
}

test("gets the whole configuration, a line a step, and a good end", async () => {
  const { result, calls, run } = await train("--tracker wandb --tracker-mode offline", WANDB);
  expect([result.code, result.stderr]).toEqual([0, expect.any(String)]);
  const folder = onlyRun(run);
  const lines = readFileSync(join(folder, "metrics.jsonl"), "utf8").trimEnd().split("\n");
  const rewards = lines.map((line) => (JSON.parse(line) as Record<string, number>)["reward/mean"]);
  const record = JSON.parse(readFileSync(join(folder, "run.json"), "utf8")) as {
    run_id: string;
    config: Record<string, unknown>;
  };
  expect(calls[0]?.[1]).toMatchObject({
    name: record.run_id,
    mode: "offline",
    config: record.config,
  });
  expect(record.config["rollout.group_size"]).toBe(4);
  expect(calls.slice(1)).toEqual([
    ["log", 0, rewards[0]],
    ["log", 1, rewards[1]],
    ["finish", 0],
  ]);
});

test("a training that fails closes it as failed", async () => {
  // The update cannot be made: a rate at which the weights are no numbers after one step.
  const { result, calls } = await train(
    "--tracker wandb --tracker-mode offline --learning-rate 1e38",
    WANDB,
  );
  expect(result.code).toBe(1);
  expect(calls.at(-1)).toEqual(["finish", 1]);
});

test("one out of reach is told once and stops nothing", async () => {
  const broken = WANDB.replace(
    'note("log", step',
    'raise OSError("no network")\n        note("log", step',
  );
  const { result, calls } = await train("--tracker wandb --tracker-mode offline", broken);
  expect(result.code).toBe(0);
  expect(result.stderr.match(/The tracker could not log: no network/g)).toHaveLength(1);
  expect(calls.at(-1)).toEqual(["finish", 0]);
});

test("one that is not installed is named before anything is sampled; disabled needs nothing", async () => {
  const missing = await train("--tracker swanlab", null);
  expect(missing.result.code).toBe(1);
  expect(missing.result.stderr).toContain("pip install 'interlace-learner[swanlab]'");
  expect(existsSync(join(onlyRun(missing.run), "metrics.jsonl"))).toBe(false);
  const disabled = await train("--tracker swanlab --tracker-mode disabled", null);
  expect(disabled.result.code).toBe(0);
});
