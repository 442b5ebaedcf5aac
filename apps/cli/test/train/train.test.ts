/**
 * `interlace train` as a person runs it: the loop learns, its files are a run's, and a run that was killed at
 * random moments ends with the weights of one that was not. INTERLACE_TRAIN_KILLS sets how often (default 3).
 */
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { newFolder, onlyRun, PYTHON, runCli, spawnCli } from "../support/cli.ts";

const KILLS = Number(process.env["INTERLACE_TRAIN_KILLS"] ?? 3);
const STEPS = 5;
const FLAGS = [
  ...`--problems 2 --group-size 4 --steps ${STEPS} --save-every 2 --evaluate-every 0`.split(" "),
  "--python",
  PYTHON,
];

type MetricsLine = Readonly<Record<string, number>>;

function metricsOf(run: string): readonly MetricsLine[] {
  const text = readFileSync(join(run, "metrics.jsonl"), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as MetricsLine);
}

/** Everything that a run computed: clock times are its own. */
function results(run: string): readonly MetricsLine[] {
  return metricsOf(run).map((line) => {
    const own = new Set(["time/step_seconds", "sandbox/latency"]);
    return Object.fromEntries(Object.entries(line).filter(([name]) => !own.has(name)));
  });
}

function finalWeights(run: string): string {
  const folder = join(run, "checkpoints");
  const name = readdirSync(folder).find((entry) => entry.endsWith("-final-weights"));
  if (name === undefined) throw new Error(`No final weights in ${folder}`);
  const bytes = readFileSync(join(folder, name, "model.safetensors"));
  return new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
}

const cwd = newFolder();
const whole = await runCli(["train", ...FLAGS, "--out", "whole"], cwd);
const run = onlyRun(join(cwd, "whole"));

describe("a whole run", () => {
  test("ends well, with a line of metrics a step and a curve", () => {
    expect(whole.stderr).not.toContain("interlace: ");
    expect(whole.code).toBe(0);
    expect(metricsOf(run).map((line) => line["step"])).toEqual([0, 1, 2, 3, 4]);
    expect(whole.stdout.match(/^step \d\/5 .*loss .*reward .*right .*calls/gm)).toHaveLength(STEPS);
    expect(readFileSync(join(run, "reward.svg"), "utf8")).toStartWith("<svg ");
    expect(readFileSync(join(run, "reward.png")).subarray(1, 4).toString()).toBe("PNG");
  });

  test("its first update starts from ratio 1: the learner computes the sampler's logprobs", () => {
    const [first] = metricsOf(run).filter((line) => line["train/update_skipped"] === 0);
    expect(first?.["trainer/ratio_mean"]).toBeCloseTo(1, 4);
    expect(first?.["trainer/logprob_difference_max"]).toBeLessThan(5e-4);
    expect(first?.["trainer/clip_fraction_high"]).toBe(0);
    expect(first?.["trainer/clip_fraction_low"]).toBe(0);
  });

  test("checkpoints are two artefacts each, named by steps from 1", () => {
    const names = readdirSync(join(run, "checkpoints"))
      .map((name) => name.replace(/^\d{8}-\d{6}-[0-9a-f]{4}-/, ""))
      .toSorted();
    expect(names).toEqual([
      "final-state",
      "final-weights",
      "step-2-state",
      "step-2-weights",
      "step-4-state",
      "step-4-weights",
    ]);
  });

  test("each step sampled from the weights that the step before it made", async () => {
    const versions = readdirSync(run)
      .filter((name) => name.startsWith("step-"))
      .toSorted()
      .map((name) => {
        const log = readFileSync(join(run, name, "events.jsonl"), "utf8");
        return new Set(
          [...log.matchAll(/"version":"(sha256-[0-9a-f]+)"/g)].map((match) => match[1]),
        );
      });
    expect(versions.every((each) => each.size === 1)).toBe(true);
    const skipped = metricsOf(run).filter((line) => line["train/update_skipped"] === 1).length;
    const distinct = new Set(versions.flatMap((each) => [...each]));
    expect(distinct.size).toBeGreaterThanOrEqual(STEPS - skipped);
  });

  test("every rule of verify holds, and replay makes its files again", async () => {
    expect((await runCli(["verify", run], cwd)).code).toBe(0);
    expect((await runCli(["replay", run], cwd)).code).toBe(0);
  });

  test("resumed when it is complete, it changes nothing", async () => {
    const before = finalWeights(run);
    const again = await runCli(["train", "--resume", run, "--python", PYTHON], cwd);
    expect(again.code).toBe(0);
    expect(finalWeights(run)).toBe(before);
  });
});

test(`killed ${KILLS} times at random moments and resumed, it ends with the same weights`, async () => {
  const out = join(cwd, "killed");
  let kills = 0;
  for (let start = 0; ; start++) {
    const known = existsSync(out) && readdirSync(out).length > 0 ? onlyRun(out) : null;
    const resume = known !== null && existsSync(join(known, "run.json")) ? known : null;
    const args =
      resume === null ? [...FLAGS, "--out", out] : ["--resume", resume, "--python", PYTHON];
    const child = spawnCli(["train", ...args], cwd);
    const drained = Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    if (kills < KILLS) {
      // Moments are counted in lines of the log, not in seconds: a slow machine is killed at the same places.
      await lineOfLog(out, start + 1 + Math.floor(Math.random() * 12), child);
      child.kill("SIGKILL");
      kills += 1;
      await child.exited;
      await drained;
      continue;
    }
    const [, stderr] = await drained;
    expect([await child.exited, stderr]).toEqual([0, expect.any(String)]);
    break;
  }
  const resumed = onlyRun(out);
  expect(results(resumed)).toEqual(results(run));
  expect(finalWeights(resumed)).toBe(finalWeights(run));
}, 900_000);

/** Resolves when the run's logs have grown by `lines`, or the process is gone. */
async function lineOfLog(out: string, lines: number, child: Bun.Subprocess): Promise<void> {
  const count = () => {
    if (!existsSync(out)) return 0;
    return readdirSync(out, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith("events.jsonl"))
      .reduce((sum, name) => sum + readFileSync(join(out, name), "utf8").split("\n").length - 1, 0);
  };
  const before = count();
  while (child.exitCode === null && count() < before + lines) await Bun.sleep(5);
}

test("with max_staleness 1 both halves overlap, steps end in order and no datum is older than that", async () => {
  const flags = [...FLAGS, "--max-staleness", "1", "--out", "stale"];
  const { code, stderr } = await runCli(["train", ...flags], cwd);
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  const stale = onlyRun(join(cwd, "stale"));
  expect(metricsOf(stale).map((line) => line["step"])).toEqual([0, 1, 2, 3, 4]);
  const ages = metricsOf(stale).flatMap((line) => line["rollout/staleness_max"] ?? []);
  expect(Math.max(...ages)).toBeLessThanOrEqual(1);
  expect(Math.max(...ages)).toBe(1);
  expect(metricsOf(run).flatMap((line) => line["rollout/staleness_max"] ?? [])).not.toContain(1);
  expect((await runCli(["verify", stale], cwd)).code).toBe(0);
});

afterAll(() => {
  // A learner's process must never outlive its engine.
  const left = Bun.spawnSync(["pgrep", "-f", `interlace_learner.*${cwd}`]);
  expect(left.stdout.toString()).toBe("");
});
