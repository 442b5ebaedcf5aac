/** Good runs pass, however they were made; every kind of damage to a file is caught by the rule that stands for it. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createReporter } from "@interlace/core";
import { createTerminal } from "../../src/terminal/terminal.ts";
import { printReport } from "../../src/verify/print-report.ts";
import { verifyWork } from "../../src/verify/verify-work.ts";
import { askPythonFile, newFolder, onlyRun, runCli } from "../support/cli.ts";

// Spawned processes share two cores with everything else.
setDefaultTimeout(120_000);

const SMALL = ["--problems", "3", "--group-size", "4", "--seed", "5"];

/** Kind of damage → the rule that must catch it. More rules may. */
const CAUGHT_BY: Readonly<Record<string, string>> = {
  one_input_token: "shift",
  one_target_token: "shift",
  targets_not_shifted: "shift",
  id_over_vocabulary: "ids_in_vocab",
  mask_bit_off: "mask_turns",
  mask_bit_on: "advantages",
  mask_of_two: "mask_binary",
  mask_empty: "mask_binary",
  logprob_nan: "logprobs",
  logprob_missing: "logprobs",
  logprob_positive: "logprobs",
  logprob_off_mask: "logprobs",
  logprob_other: "mask_sampled",
  columns_shifted: "mask_turns",
  column_shorter: "lengths",
  advantages_doubled: "advantage_value",
  advantage_off_mask: "advantages",
  reward_flipped: "advantage_value",
  group_mean: "group_stats",
  group_scored: "group_stats",
  turn_end: "turn_ends",
  turns: "turn_ends",
  group_index: "identity",
  sample_weight: "sample_weight",
  micro_batch_gap: "micro_batch",
  rows_swapped_across_batches: "micro_batch",
  row_left_out: "readable",
  row_twice: "readable",
  datums_cut: "readable",
  datums_without_end: "readable",
  datums_no_arrow: "readable",
  datums_empty: "readable",
  datums_gone: "readable",
  column_gone: "readable",
  schema_version: "readable",
  vocabulary_shrunk: "ids_in_vocab",
  n_changed: "sample_weight",
  prompt_token: "template",
  sampled_token: "text",
  observed_token: "template",
  span_moved: "spans",
  span_kind: "spans",
  turn_text: "text",
  message: "text",
  question: "template",
  tool_content: "template",
  verdict_flipped: "event_log",
  other_answer: "grade",
  end: "outcome",
  code_calls: "outcome",
  prompt_length: "prefix",
  version_span: "versions",
  trajectory_left_out: "readable",
  group_left_out: "readable",
  groups_swapped: "identity",
  stale_metrics: "metrics",
  metric_left_out: "metrics",
  metrics_torn: "readable",
  ledger_unbalanced: "ledger",
  ledger_stale: "ledger",
  ledger_cut: "readable",
  logprobs_swapped_everywhere: "event_log",
  step_gone: "readable",
  log_token: "event_log",
  log_line_left_out: "event_log",
};

type Report = {
  readonly ok: boolean;
  readonly unfinished: readonly number[];
  readonly failed: Readonly<Record<string, number>>;
  readonly skipped: Readonly<Record<string, string>>;
  readonly checked: Readonly<Record<string, number>>;
};

/** In this process: 64 processes would take a minute. The command's own words are tested below as a process. */
async function verify(target: string): Promise<Report & { code: number }> {
  let stdout = "";
  const stream = { write: (text: string) => void (stdout += text), isTTY: false, columns: 100 };
  const terminal = createTerminal(stream, { ...stream, write: () => {} }, {});
  const code = await verifyWork(terminal, { json: true, out: "runs", findings: 5 }, target);
  return { ...(JSON.parse(stdout) as Report), code };
}

const cwd = newFolder();
await runCli(["rollout", ...SMALL, "--out", "a"], cwd);
const good = onlyRun(join(cwd, "a"));

const folder = newFolder();
const kinds = (await askPythonFile(join(import.meta.dir, "damage.py"), [good, folder])) as string[];

describe("a good run passes", () => {
  test("made by the default schedule", async () => {
    const report = await verify(good);
    expect(report).toMatchObject({ ok: true, code: 0, failed: {}, skipped: {} });
    expect(Object.keys(report.checked)).toHaveLength(28);
  });

  test("made in rounds", async () => {
    await runCli(["rollout", ...SMALL, "--schedule", "rounds", "--out", "rounds"], cwd);
    expect(await verify(onlyRun(join(cwd, "rounds")))).toMatchObject({ ok: true, code: 0 });
  });

  test("without one datum: all groups are all wrong", async () => {
    const alone = ["--problems", "1", "--group-size", "1", "--out", "none"];
    await runCli(["rollout", ...alone], cwd);
    const report = await verify(onlyRun(join(cwd, "none")));
    expect(report).toMatchObject({ ok: true, code: 0 });
  });

  test("a lone datums.arrow, with what it cannot check said", async () => {
    const report = await verify(join(good, "step-000000/datums.arrow"));
    expect(report).toMatchObject({ ok: true, code: 0 });
    expect(report.skipped["mask_sampled"]).toBe("needs the run folder");
    expect(report.checked["shift"]).toBeGreaterThan(100);
  });
});

describe("a damaged run", () => {
  test("65 kinds of damage are made", () => {
    expect(kinds.toSorted()).toEqual(Object.keys(CAUGHT_BY).toSorted());
    expect(kinds).toHaveLength(65);
  });

  test.each(kinds)("%s is caught, with exit code 1", async (kind) => {
    const report = await verify(join(folder, kind));
    expect(Object.keys(report.failed)).toContain(CAUGHT_BY[kind] as string);
    expect(report.code).toBe(1);
  });

  test("a finding tells a person row, column, position, what was expected and what was seen", async () => {
    const { stdout, code } = await runCli(["verify", join(folder, "mask_of_two")], "/");
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /mask_binary +step-000000\/datums\.arrow, row 0, loss_mask, position \d+\n +expected +0 or 1\n +seen +2/,
    );
    expect(stdout).toMatch(/FAIL +mask_binary/);
  });
});

describe("a step without its line in metrics.jsonl is not finished", () => {
  const two = { folder: "" };
  beforeAll(async () => {
    await runCli(["rollout", ...SMALL, "--steps", "2", "--out", "two"], cwd);
    two.folder = onlyRun(join(cwd, "two"));
  });
  const copyOf = (run: string): string => {
    const copy = join(newFolder(), "run");
    cpSync(run, copy, { recursive: true });
    return copy;
  };
  const changeLines = (run: string, change: (lines: string[]) => string[]): void => {
    const path = join(run, "metrics.jsonl");
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    writeFileSync(
      path,
      change(lines)
        .map((line) => `${line}\n`)
        .join(""),
    );
  };

  test("a run of which nothing is exported holds no rule: exit code 1, and how to go on", async () => {
    const run = copyOf(good);
    rmSync(join(run, "metrics.jsonl"));
    for (const name of ["datums.arrow", "trajectories.arrow", "ledger.json"])
      rmSync(join(run, "step-000000", name));
    expect(await verify(run)).toMatchObject({ ok: false, code: 1, failed: {}, unfinished: [0] });
    const { stdout, code } = await runCli(["verify", run], "/");
    expect(code).toBe(1);
    expect(stdout).toContain(`step 0 is not finished: rollout --resume ${run} goes on\n`);
    expect(stdout).toContain("Nothing was checked: the run has no finished step");
    const help = await runCli(["verify", "--help"], "/");
    expect(help.stdout.replaceAll(/\s+/g, " ")).toContain(
      "Exit code 1 when a rule is broken, with row, column, position, what was expected and what was seen; " +
        "and when nothing could be checked, for no step of the run is finished.",
    );
    expect(stdout).not.toContain("hold");
  });

  test("a run that is still working is checked as far as it is whole", async () => {
    const run = copyOf(two.folder);
    changeLines(run, ([first = ""]) => [first]);
    expect(await verify(run)).toMatchObject({ ok: true, code: 0, failed: {}, unfinished: [1] });
    const { stdout } = await runCli(["verify", run], "/");
    expect(stdout).toMatch(/step 1 is not finished: .*\nAll 28 rules hold/);
  });

  test("where a later step has its line, the missing one is damage", async () => {
    const run = copyOf(two.folder);
    changeLines(run, ([, second = ""]) => [second]);
    const report = await verify(run);
    expect(report).toMatchObject({ ok: false, code: 1, unfinished: [] });
    expect(Object.keys(report.failed)).toEqual(["readable", "metrics"]);
  });
});

test("one rule holds in the singular", () => {
  const out = createReporter();
  out.checked("shift");
  let said = "";
  const stream = { write: (text: string) => void (said += text), isTTY: false, columns: 100 };
  printReport(out.report(), null, false, createTerminal(stream, stream, {}));
  expect(said).toEndWith("\n1 rule holds\n");
});

test("what is no run and no file is wrong use", async () => {
  const { code, stderr } = await runCli(["verify", "nothing-here"], cwd);
  expect(code).toBe(2);
  expect(stderr).toContain("There is no run and no file at nothing-here");
});
