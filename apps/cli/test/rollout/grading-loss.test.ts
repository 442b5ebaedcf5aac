/** A grader that fails on everything that it is asked: whole files, and nothing to learn from them. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import {
  describeGradingLoss,
  findGradingLoss,
  sumGradingLosses,
  type Graded,
} from "../../src/rollout/grading-loss.ts";
import { reportTraining } from "../../src/train/report-training.ts";
import { createTerminal } from "../../src/terminal/terminal.ts";
import { newFolder, onlyRun, runCli } from "../support/cli.ts";
import { readStep } from "../support/read-step.ts";

// Spawned processes share two cores with everything else.
setDefaultTimeout(240_000);

const RIGHT: Graded = { by: "math_verify", unscored: null };
const NO_BOX: Graded = { by: "format", unscored: null };
const LOST: Graded = { by: null, unscored: null };
const broken = (reason: string, detail = ""): Graded => ({
  by: null,
  unscored: { reason, detail },
});

describe("what is lost to a grader", () => {
  test("everything that it was asked: told by the first, with its words", () => {
    const grades = [NO_BOX, broken("timeout", "No verdict\nwithin 10 s"), LOST, broken("other")];
    const loss = { asked: 2, cause: "grader:timeout", detail: "No verdict\nwithin 10 s" };
    expect(findGradingLoss(grades)).toEqual(loss);
    expect(describeGradingLoss(loss)).toBe(
      "the grader gave no verdict on any of 2 that it was asked about; the first: grader:timeout: No verdict within 10 s",
    );
  });

  test.each<[what: string, grades: readonly Graded[]]>([
    ["one verdict", [broken("timeout"), RIGHT, broken("timeout")]],
    ["answers without a box only", [NO_BOX, NO_BOX]],
    ["trajectories that were lost before", [LOST, LOST]],
    ["a grader that is unsure, beside answers without a box", [NO_BOX, broken("undecided")]],
    ["nothing", []],
  ])("%s is no loss", (_, grades) => {
    expect(findGradingLoss(grades)).toBeNull();
  });

  test("a grader that is unsure of everything, where nothing is scored", () => {
    expect(findGradingLoss([broken("undecided"), LOST])).toMatchObject({ asked: 1 });
  });

  test("of a run: all of its steps", () => {
    const loss = findGradingLoss([broken("timeout", "late")]);
    expect(sumGradingLosses([loss, loss])).toMatchObject({ asked: 2, detail: "late" });
    expect(sumGradingLosses([loss, null])).toBeNull();
    expect(sumGradingLosses([])).toBeNull();
  });
});

describe("the commands", () => {
  /** A judge whose key was withdrawn. */
  async function withBrokenJudge(
    work: (env: Readonly<Record<string, string>>, folder: string) => Promise<void>,
  ): Promise<void> {
    using server = Bun.serve({
      port: 0,
      fetch: () => new Response("no such key", { status: 401 }),
    });
    const env = {
      INTERLACE_GRADING_GRADER: "judge",
      INTERLACE_GRADING_JUDGE_URL: `http://127.0.0.1:${server.port}`,
      INTERLACE_GRADING_JUDGE_MODEL: "any",
    };
    await work(env, newFolder());
  }
  const LINE =
    /the grader gave no verdict on any of (\d+) that it was asked about; the first: grader:judge_refused: http:\S+ answered 401: no such key/;

  test("rollout: whole files, one line, exit code 1, and a replay that scores them", () =>
    withBrokenJudge(async (env, folder) => {
      const args = ["rollout", "--problems", "4", "--group-size", "4"];
      const { code, stderr, stdout } = await runCli([...args, "--out", "runs"], folder, env);
      const run = onlyRun(join(folder, "runs"));
      const { ledger } = await readStep(run);
      const asked = Number(LINE.exec(stderr)?.[1]);
      expect(asked).toBe(ledger.trajectories.dropped["unscored:answer:judge_refused"] ?? NaN);
      expect(asked).toBeGreaterThan(8);
      expect(code).toBe(1);
      expect(stdout).not.toContain("Next:");
      const told = stderr.trimEnd().split("\n").slice(-2);
      expect(told[0]).toStartWith("interlace: nothing can be learnt from this: ");
      expect(told[1]).toEndWith(
        `bun run interlace replay runs/${run.split("/").at(-1)} --grader judge --out DIR`,
      );
      const scored = ["replay", run, "--grader", "native", "--out", join(folder, "scored")];
      const replayed = await runCli([...scored, "--json"], folder);
      const { steps } = JSON.parse(replayed.stdout) as {
        readonly steps: readonly { readonly metrics: Readonly<Record<string, number>> }[];
      };
      expect(steps[0]?.metrics["reward/correct"]).toBeGreaterThan(0);
      const json = await runCli([...args, "--out", "json", "--json"], folder, env);
      expect(json.code).toBe(1);
      expect(JSON.parse(json.stdout)).toMatchObject({
        end: "failed",
        ungraded: { asked, cause: "grader:judge_refused" },
      });
    }));

  test("eval: the summary, the file, and exit code 1 until it is asked again", () =>
    withBrokenJudge(async (env, folder) => {
      const args = ["eval", "--limit", "2", "--val-n", "4", "--out", "a.jsonl"];
      const first = await runCli(args, folder, env);
      expect(first.code).toBe(1);
      expect(first.stderr.trimEnd().split("\n").at(-1)).toMatch(LINE);
      expect(first.stderr).toEndWith(
        "; when the grader is mended, the same command with --retry-failed asks again\n",
      );
      // All lines are there now; the grader's words are not.
      const second = await runCli(args, folder, env);
      expect(second.code).toBe(1);
      expect(second.stderr).toContain("the first: grader:judge_refused; when");
    }));

  test("train says it in one line too", () => {
    let stderr = "";
    const quiet = { write: () => {}, isTTY: false, columns: 100 };
    const terminal = createTerminal(
      quiet,
      { ...quiet, write: (text) => void (stderr += text) },
      {},
    );
    const ungraded = { asked: 128, cause: "grader:timeout", detail: "late" };
    const folder = { id: "r", path: "runs/r" } as Parameters<typeof reportTraining>[0]["folder"];
    const end = { end: "complete", lines: [], ungraded } as const;
    reportTraining({ end, folder, goOn: "", plot: [] }, false, terminal);
    expect(stderr).toBe(
      "interlace: nothing was learnt: the grader gave no verdict on any of 128 that it was asked about; the first: grader:timeout: late\n",
    );
  });
});
