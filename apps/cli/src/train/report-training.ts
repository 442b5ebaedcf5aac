/** In: metrics lines and how the run ended. Out: a line a step, a curve at the end, or one JSON object. */
import { join } from "node:path";
import type { Config } from "../config/schema.ts";
import { describeGradingLoss } from "../rollout/grading-loss.ts";
import type { MetricsLine } from "../run-folder/metrics-file.ts";
import type { RunFolder } from "../run-folder/run-folder.ts";
import { formatReward, formatSeconds, formatShare } from "../terminal/format.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { movingMean, rewardChart, sparkline } from "./reward-curve.ts";
import type { TrainingEnd } from "./training-loop.ts";

const SPARK_WIDTH = 24;

export function reportTrainingStep(
  lines: readonly MetricsLine[],
  config: Config,
  json: boolean,
  terminal: Terminal,
): void {
  const line = lines.at(-1);
  if (json || line === undefined) return;
  const value = (name: string): number => line[name] ?? 0;
  const rewards = lines.map((each) => each["reward/mean"] ?? 0);
  const skipped = value("train/update_skipped") === 1 ? "  no update" : "";
  const evaluated = line["eval/reward"];
  const parts = [
    `step ${String(line.step + 1).padStart(String(config.train.maxSteps).length)}/${config.train.maxSteps}`,
    formatSeconds(value("time/step_seconds")).padStart(6),
    `loss ${formatReward(value("trainer/loss"))}`,
    `reward ${formatReward(value("reward/mean"))}`,
    `10-step ${formatReward(movingMean(rewards).at(-1) ?? 0)}`,
    `right ${formatShare(value("reward/correct"))}`,
    `calls ${value("rollout/code_calls").toFixed(2)}`,
    sparkline(rewards, SPARK_WIDTH),
  ];
  terminal.out(`${parts.join("  ")}${skipped}`);
  if (evaluated !== undefined) {
    const right = formatShare(line["eval/correct"] ?? 0);
    terminal.out(`         held-out: reward ${formatReward(evaluated)}, ${right} right`);
  }
}

export type TrainingReport = {
  readonly end: TrainingEnd;
  readonly folder: RunFolder;
  /** The command that goes on with it. */
  readonly goOn: string;
  /** Files of the curve. */
  readonly plot: readonly string[];
};

export function reportTraining(report: TrainingReport, json: boolean, terminal: Terminal): void {
  const { end, folder, goOn, plot } = report;
  const rewards = end.lines.map((line) => line["reward/mean"] ?? 0);
  const ungraded = end.end === "complete" ? end.ungraded : null;
  if (json) {
    const how = ungraded === null ? { end: end.end } : { end: "failed", ungraded };
    const body = { run_id: folder.id, path: folder.path, ...how, metrics: end.lines, plot };
    terminal.out(JSON.stringify(body));
    return;
  }
  terminal.out("");
  terminal.out("Reward, mean of 10 steps:");
  for (const line of rewardChart(rewards)) terminal.out(line);
  terminal.out("");
  const first = rewards[0] ?? 0;
  const seconds = end.lines.reduce((sum, line) => sum + (line["time/step_seconds"] ?? 0), 0);
  terminal.out(
    `reward   ${formatReward(first)} → ${formatReward(movingMean(rewards).at(-1) ?? 0)} in ${end.lines.length} steps, ${formatSeconds(seconds)}`,
  );
  const held = end.lines.filter((line) => line["eval/reward"] !== undefined);
  const best = held.toSorted((a, b) => (b["eval/reward"] ?? 0) - (a["eval/reward"] ?? 0))[0];
  if (best !== undefined) {
    const last = held.at(-1)?.["eval/reward"] ?? 0;
    terminal.out(
      `held-out ${formatReward(last)} at the end, best ${formatReward(best["eval/reward"] ?? 0)} after step ${best.step + 1}`,
    );
  }
  terminal.out(`files    ${join(folder.path, "checkpoints")}`);
  for (const file of plot) terminal.out(`         ${file}`);
  if (ungraded !== null) {
    terminal.note(`interlace: nothing was learnt: ${describeGradingLoss(ungraded)}`);
  }
  if (end.end === "complete") return;
  terminal.note(
    end.end === "failed"
      ? `interlace: step ${end.step + 1} failed: too many trajectories were lost (${describeLost(end)})`
      : `interlace: interrupted in step ${end.step + 1}; nothing that was answered or learnt is lost`,
  );
  const again = end.end === "failed" ? " --retry-failed" : "";
  terminal.note(`Go on with: ${goOn}${again}`);
}

function describeLost(end: Exclude<TrainingEnd, { end: "complete" }>): string {
  const failures = end.result?.batch.failures ?? new Map<string, number>();
  return [...failures].map(([cause, count]) => `${cause} ${count}`).join(", ");
}
