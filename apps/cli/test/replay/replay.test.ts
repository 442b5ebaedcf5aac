/** A run from its recording: byte for byte, scored again, or told where the recording ends. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newFolder, onlyRun, runCli } from "../support/cli.ts";

// Spawned processes share two cores with everything else.
setDefaultTimeout(120_000);

const cwd = newFolder();
await runCli(
  ["rollout", "--problems", "3", "--group-size", "4", "--steps", "2", "--out", "runs"],
  cwd,
);
const run = onlyRun(join(cwd, "runs"));

type Replayed = {
  readonly steps: readonly {
    readonly step: number;
    readonly groups: number;
    readonly missing: readonly string[];
    readonly metrics: Readonly<Record<string, number>> | null;
    readonly differing: readonly string[] | null;
  }[];
};

async function replay(...args: string[]): Promise<Replayed & { readonly code: number }> {
  const { stdout, stderr, code } = await runCli(["replay", ...args, "--json"], cwd);
  if (stdout === "") throw new Error(stderr);
  return { ...(JSON.parse(stdout) as Replayed), code };
}

function toml(text: string): string {
  const path = join(newFolder(), "change.toml");
  writeFileSync(path, text);
  return path;
}

describe("unchanged", () => {
  test("every file of every step comes out byte for byte", async () => {
    const result = await replay(run);
    expect(result.code).toBe(0);
    expect(result.steps.map((s) => [s.step, s.groups, s.missing, s.differing])).toEqual([
      [0, 3, [], []],
      [1, 3, [], []],
    ]);
  });

  test("--out writes files that pass as the recorded ones", async () => {
    const out = join(newFolder(), "again");
    await replay(run, "--out", out);
    for (const file of ["datums.arrow", "trajectories.arrow", "ledger.json"]) {
      const path = join("step-000001", file);
      expect(readFileSync(join(out, path)).equals(readFileSync(join(run, path)))).toBe(true);
    }
  });

  test("a file that was changed since is named, with exit code 1", async () => {
    const copy = join(newFolder(), "run");
    cpSync(run, copy, { recursive: true });
    const ledger = join(copy, "step-000001/ledger.json");
    writeFileSync(
      ledger,
      readFileSync(ledger, "utf8").replace('"truncated_turns": 0', '"truncated_turns": 9'),
    );
    const result = await replay(copy);
    expect(result.code).toBe(1);
    expect(result.steps.map((s) => s.differing)).toEqual([[], ["ledger.json"]]);
  });
});

test("a step that was exported and cannot be replayed is a failure, said with its place", async () => {
  const copy = join(newFolder(), "run");
  cpSync(run, copy, { recursive: true });
  const log = join(copy, "step-000001/events.jsonl");
  const lines = readFileSync(log, "utf8").trimEnd().split("\n");
  writeFileSync(log, `${lines.slice(0, -3).join("\n")}\n`);
  const result = await replay(copy);
  expect(result.code).toBe(1);
  expect(result.steps[1]?.missing.length).toBeGreaterThan(0);
});

describe("a recording of another prompt is a person's to mend, not a bug", () => {
  const foreign = (): string => {
    const copy = join(newFolder(), "run");
    cpSync(run, copy, { recursive: true });
    const log = join(copy, "step-000001/events.jsonl");
    const lines = readFileSync(log, "utf8").split("\n");
    const at = lines.findIndex((line) => line.includes('"type":"sampled"'));
    lines[at] = (lines[at] ?? "").replace(/"hash":\d+/, '"hash":1');
    writeFileSync(log, lines.join("\n"));
    return copy;
  };
  const PROMPT =
    /belongs to a prompt of \d+ tokens \(hash 1\), this run asks with \d+ \(hash \d+\)/;

  test("replay names the log and what differs", async () => {
    const copy = foreign();
    const { code, stderr } = await runCli(["replay", copy], cwd);
    expect(code).toBe(1);
    expect(stderr).toContain(`${copy}/step-000001/events.jsonl is not the recording of this run's`);
    expect(stderr).toMatch(PROMPT);
    expect(stderr).not.toContain("bug of Interlace");
  });

  test("replay with another system prompt names the setting, as wrong use", async () => {
    const config = toml('[protocol]\nsystem_prompt = "Other."\n');
    const { code, stderr } = await runCli(["replay", run, "--config", config], cwd);
    expect(code).toBe(2);
    expect(stderr).toContain("cannot be replayed with another protocol.system_prompt");
    expect(stderr).not.toContain("bug of Interlace");
  });

  test("rollout --resume of such an open step says what to do", async () => {
    const copy = foreign();
    const metrics = join(copy, "metrics.jsonl");
    writeFileSync(metrics, `${readFileSync(metrics, "utf8").split("\n")[0]}\n`);
    const { code, stderr } = await runCli(["rollout", "--resume", copy], cwd);
    expect(code).toBe(1);
    expect(stderr).toContain(`Step 1 cannot go on from ${copy}/step-000001/events.jsonl: `);
    expect(stderr).toMatch(PROMPT);
    expect(stderr).toContain("restore what was changed, or start a new run");
    expect(stderr).not.toContain("bug of Interlace");
  });
});

describe("changed", () => {
  test("--grader scores the recorded answers again and needs nothing else", async () => {
    const result = await replay(run, "--grader", "aime_integer");
    expect(result.steps.map((s) => s.missing)).toEqual([[], []]);
    expect(result.steps[0]?.metrics?.["reward/mean"]).toBeNumber();
  });

  test("a smaller budget says at which trajectory and turn the recording ends", async () => {
    const config = toml("[rollout]\nmax_tool_response_tokens = 3\n");
    const result = await replay(run, "--config", config);
    const [place] = result.steps[0]?.missing ?? [];
    expect(place).toMatch(
      /^question \d+, trajectory \d+, turn 1: (sample|grade) \(0\/\d+\/\d+\/\d\)$/,
    );
    expect(result.steps[0]?.metrics).toBeNull();
  });

  test("a setting that nobody reached changes nothing", async () => {
    const config = toml('[rollout]\nmax_code_calls = 50\n[run]\nschedule = "rounds"\n');
    const result = await replay(run, "--config", config);
    expect(result.steps.map((s) => s.missing)).toEqual([[], []]);
  });
});

test("what is no run is wrong use", async () => {
  const { code, stderr } = await runCli(["replay", "nothing"], cwd);
  expect(code).toBe(2);
  expect(stderr).toContain("expected a folder with a run.json");
});
