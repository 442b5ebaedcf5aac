/**
 * In: a step's scored trajectories and packing. Out: one number per name, as the described system logs them.
 * Refuses to know clocks, trackers and the learner's insides (datum.md §3).
 * A mean or a rate over nobody is 0; the ledger tells how many there were.
 */
import { isDegenerate } from "../advantage/group-centred.ts";
import { datumLength } from "../datum/datum.ts";
import type { ScoredTrajectory, StepDatums } from "../datum/step-datums.ts";
import type { ExecStatus } from "../ports/sandbox.ts";

/** Values by name: `reward/mean`, `rollout/turns`, … */
export type Metrics = Readonly<Record<string, number>>;

/** All names but `trainer/*` and `time/*`, whose values core cannot know. */
export function measureStep(step: StepDatums): Metrics {
  return {
    ...rewardMetrics(step),
    ...rolloutMetrics(step),
    ...packingMetrics(step),
    ...sandboxMetrics(step),
  };
}

/** Over scored trajectories. */
function rewardMetrics({ trajectories }: StepDatums): Metrics {
  const scores = trajectories.map(({ score }) => score).filter((score) => score !== null);
  return {
    "reward/mean": mean(scores.map(({ reward }) => reward)),
    "reward/correct": mean(scores.map(({ correct }) => Number(correct))),
    "reward/format": mean(scores.map(({ validFormat }) => Number(validFormat))),
  };
}

/** Over all trajectories, unless a line says otherwise. */
function rolloutMetrics({ trajectories }: StepDatums): Metrics {
  const members = trajectories.map(({ member }) => member);
  const last = members.map(({ turns }) => turns.at(-1)).filter((turn) => turn !== undefined);
  const turns = members.flatMap((member) => member.turns);
  const joined = sum(members.map(({ codeCalls }) => codeCalls));
  const rewards = rewardsByQuestion(trajectories);
  return {
    "rollout/turns": mean(members.map((member) => member.turns.length)),
    "rollout/code_calls": mean(members.map(({ codeCalls }) => codeCalls)),
    // Over those with turns: the last turn's prompt + completion.
    "rollout/trajectory_tokens": mean(last.map((turn) => turn.promptLength + turn.length)),
    // Joined observations ÷ turns whose text opens a call.
    "rollout/valid_tool_call_rate": ratio(joined, turns.filter((turn) => turn.opensCall).length),
    // Over problems with at least one scored trajectory.
    "rollout/degenerate_group_rate": mean(rewards.map((group) => Number(isDegenerate(group)))),
    // Over all: the last turn was cut at its token limit.
    "rollout/truncated_rate": ratio(
      last.filter(({ finish }) => finish === "length").length,
      members.length,
    ),
  };
}

function packingMetrics({ datums, microBatches }: StepDatums): Metrics {
  const lengths = datums.map(({ member }) => datumLength(member));
  const padded = microBatches.map(({ paddedTokens }) => paddedTokens);
  return {
    "train/datums_per_rollout_batch": datums.length,
    "train/micro_batches_per_step": microBatches.length,
    "train/tokens_per_rollout_batch": sum(lengths),
    "train/mean_datum_tokens": mean(lengths),
    "train/loss_tokens_per_rollout_batch": sum(datums.map(countLossTokens)),
    "train/padded_tokens_per_rollout_batch": sum(padded),
    "train/max_micro_batch_padded_tokens": padded.reduce((most, next) => Math.max(most, next), 0),
    "train/update_skipped": Number(datums.length === 0),
  };
}

/** Over the tool calls of this step, joined or not; a call of a broken sandbox is an error without a run time. */
/** Over runs that ended in a result of the code: a broken sandbox and a cancelled run say nothing of it. */
function sandboxMetrics({ trajectories }: StepDatums): Metrics {
  const runs = trajectories
    .flatMap(({ member }) => member.toolCalls)
    .flatMap(({ result }) => (result.ok && result.status !== "cancelled" ? [result] : []));
  const count = (kind: Outcome): number =>
    runs.filter(({ status }) => OUTCOMES[status] === kind).length;
  return {
    "sandbox/success_rate": ratio(count("success"), runs.length),
    "sandbox/error_rate": ratio(count("error"), runs.length),
    "sandbox/timeout_rate": ratio(count("timeout"), runs.length),
    "sandbox/latency": mean(runs.map(({ usage }) => usage.wallSeconds)),
  };
}

type Outcome = "success" | "error" | "timeout";

const OUTCOMES: Readonly<Record<ExecStatus, Outcome | null>> = {
  ok: "success",
  error: "error",
  timeout: "timeout",
  // Reads to the model as `timeout` does: one line with the time limit.
  cpu_limit: "timeout",
  memory_limit: "error",
  output_limit: "error",
  killed: "error",
  cancelled: null,
};

/** Sampled tokens that are targets: all of them but one at position 0. */
function countLossTokens({ member }: ScoredTrajectory): number {
  return sum(
    member.turns.map(({ promptLength, length }) =>
      Math.max(0, promptLength === 0 ? length - 1 : length),
    ),
  );
}

function rewardsByQuestion(trajectories: readonly ScoredTrajectory[]): number[][] {
  const groups = new Map<number, number[]>();
  for (const { group, score } of trajectories) {
    if (score === null) continue;
    const known = groups.get(group.question);
    if (known === undefined) groups.set(group.question, [score.reward]);
    else known.push(score.reward);
  }
  return [...groups.values()];
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

function mean(values: readonly number[]): number {
  return ratio(sum(values), values.length);
}
