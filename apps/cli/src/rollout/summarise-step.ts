/** In: a finished step. Out: its summary for a person: what came out, what was dropped and why, where the time went. */
import { relative } from "node:path";
import { findWaste, type Balance, type ScoredTrajectory, type Waste } from "@interlace/core";
import type { AnswerTimes } from "../event-log/file-event-log.ts";
import {
  formatCount,
  formatCounts,
  formatReward,
  formatSeconds,
  formatShare,
} from "../terminal/format.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { FinishedStep } from "./report.ts";

/** The rest is in ledger.json. */
const SHOWN_CAUSES = 3;

export function summariseStep(finished: FinishedStep, terminal: Terminal): readonly string[] {
  const { step, metrics, ledger, datums, seconds, times, files } = finished;
  const value = (name: string): number => metrics[name] ?? 0;
  const { trajectories } = datums;
  const questions = new Set(trajectories.map(({ group }) => group.question)).size;
  const groupSize = trajectories.length / Math.max(1, questions);
  const scored = trajectories.filter(({ score }) => score !== null).length;
  const rows: [string, string][] = [
    [
      "reward",
      `mean ${formatReward(value("reward/mean"))} · ${formatShare(value("reward/correct"))} right · ` +
        `${formatShare(value("reward/format"))} with a boxed answer` +
        (scored === trajectories.length
          ? ""
          : ` · ${formatCount(trajectories.length - scored)} unscored`),
    ],
    [
      "turns",
      `${value("rollout/turns").toFixed(2)} a trajectory · ${value("rollout/code_calls").toFixed(2)} tool results joined · ` +
        `${formatShare(value("rollout/valid_tool_call_rate"))} of opened calls ran · ` +
        `${formatCount(value("rollout/trajectory_tokens"))} tokens mean`,
    ],
    ["ends", formatCounts(ledger.terminations)],
    ["ledger", describeBalance(ledger.trajectories, "asked")],
    ["tokens", describeBalance(ledger.sampledTokens, "sampled")],
    ...findWaste(ledger)
      .slice(0, SHOWN_CAUSES)
      .map((waste, i): [string, string] => [i === 0 ? "waste" : "", describeWaste(waste)]),
    [
      "sandbox",
      `${formatCount(ledger.sandboxRuns.joined + ledger.sandboxRuns.notJoined)} runs: ` +
        `${formatShare(value("sandbox/success_rate"))} ok · ${formatShare(value("sandbox/error_rate"))} error · ` +
        `${formatShare(value("sandbox/timeout_rate"))} time-out · ${formatSeconds(value("sandbox/latency"))} a run`,
    ],
    [
      "time",
      `${formatSeconds(seconds)}, of a trajectory's time ${describeTime(trajectories, times)}`,
    ],
    [
      "learner",
      `${formatCount(value("train/datums_per_rollout_batch"))} datums in ${formatCount(value("train/micro_batches_per_step"))} micro-batches · ` +
        `${formatCount(value("train/loss_tokens_per_rollout_batch"))} tokens with a loss`,
    ],
    [
      "files",
      `${shortPath(files.path)}/{datums.arrow, trajectories.arrow, ledger.json, events.jsonl}`,
    ],
  ];
  const title = `Step ${step}: ${formatCount(questions)} problems × ${formatCount(groupSize)} = ${formatCount(trajectories.length)} trajectories`;
  return [
    terminal.paint(title, "bold"),
    ...rows.map(([name, text]) => `  ${terminal.paint(name.padEnd(9), "dim")}${text}`),
  ];
}

/** `32 trajectories, 1,020 tokens: zero_advantage → data.path: problems that are sometimes solved`. */
function describeWaste({ cause, trajectories, sampledTokens, setting, advice }: Waste): string {
  const [one, many] =
    cause === "truncated_turns" ? ["turn", "turns"] : ["trajectory", "trajectories"];
  const unit = trajectories === 1 ? one : many;
  const tokens = sampledTokens === null ? "" : `, ${formatCount(sampledTokens)} tokens`;
  return `${formatCount(trajectories)} ${unit}${tokens}: ${cause} → ${setting}: ${advice}`;
}

/** `128 asked = 96 exported + 32 zero_advantage`. */
function describeBalance({ total, exported, dropped }: Balance, verb: string): string {
  const parts = [`${formatCount(exported)} exported`];
  for (const [cause, count] of Object.entries(dropped))
    parts.push(`${formatCount(count)} ${cause}`);
  return `${formatCount(total)} ${verb} = ${parts.join(" + ")}`;
}

/** Every member waits for the group's first answer, so it counts once for each. */
function describeTime(
  trajectories: readonly ScoredTrajectory[],
  times: ReadonlyMap<string, AnswerTimes>,
): string {
  const groupSizes = new Map(
    trajectories.map(({ group }) => [group.question, group.members.length]),
  );
  const spent = { sampled: 0, executed: 0, graded: 0 };
  for (const [name, { started, ended }] of times) {
    const [type = "", place = ""] = name.split(" ");
    if (!(type in spent)) continue;
    const [, question, member] = place.split("/");
    const weight = member === "-" ? (groupSizes.get(Number(question)) ?? 1) : 1;
    spent[type as keyof typeof spent] += (ended - started) * weight;
  }
  const total = spent.sampled + spent.executed + spent.graded;
  if (total === 0) return "nothing measurable";
  return (
    `${formatShare(spent.sampled / total)} sampling · ${formatShare(spent.executed / total)} tools · ` +
    `${formatShare(spent.graded / total)} grading`
  );
}

function shortPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith("..") || short === "" ? path : short;
}
