/**
 * What a step's files say of each other. In: its trajectories, its datums, the metrics and the ledger that were
 * written. Out: findings. Everything is computed again from the trajectories, and compared.
 */
import { projectDatum } from "../datum/datum.ts";
import { prepareStep, type StepDatums, type StepDatumsOptions } from "../datum/step-datums.ts";
import { buildLedger, checkLedger, type Ledger } from "../metrics/ledger.ts";
import { measureStep, type Metrics } from "../metrics/step-metrics.ts";
import type { Group } from "../rollout/group.ts";
import type { DatumRow } from "./datum-row.ts";
import { rebuildGroup } from "./rebuild-group.ts";
import type { Reporter } from "./report.ts";
import { checkTrajectory, type TrajectoryFacts } from "./trajectory-check.ts";
import type { TrajectoryRow } from "./trajectory-row.ts";

export type StepFiles = {
  readonly trajectories: Iterable<TrajectoryRow>;
  readonly datums: Iterable<DatumRow>;
  /** null = not at hand; its rule is then skipped by the caller. */
  readonly metrics: Metrics | null;
  readonly ledger: Ledger | null;
};

export type StepFacts = TrajectoryFacts & {
  /** Names of the files, for findings. */
  readonly names: Readonly<Record<"trajectories" | "datums" | "metrics" | "ledger", string>>;
  readonly datums: StepDatumsOptions;
};

/** The groups that could be rebuilt, for rules that need texts. */
export function checkStep(files: StepFiles, facts: StepFacts, out: Reporter): readonly Group[] {
  const rows = [...files.trajectories];
  const sound = rows.map((row, i) =>
    checkTrajectory(row, facts, { where: facts.names.trajectories, row: i }, out),
  );
  checkIdentities(rows, facts, out);
  const byQuestion = Map.groupBy(rows, (row) => row.questionIndex);
  const isWhole = checkComplete(byQuestion, facts, out);
  // One damaged row would show again in every number below.
  if (!isWhole || sound.includes(false)) return [];
  const groups = [...byQuestion.values()].map(rebuildGroup);
  const step = prepareStep(groups, facts.datums);
  checkScores(step, rows, facts, out);
  checkDatums(step, files.datums, facts, out);
  if (files.metrics !== null) checkMetrics(measureStep(step), files.metrics, facts, out);
  if (files.ledger !== null) checkLedgerFile(step, files.ledger, facts, out);
  return groups;
}

function checkIdentities(rows: readonly TrajectoryRow[], facts: StepFacts, out: Reporter): void {
  const where = facts.names.trajectories;
  let before = -1;
  for (const [row, { questionIndex, groupIndex }] of rows.entries()) {
    const index = questionIndex * facts.groupSize + groupIndex;
    const place = { where, row, column: "group_index" };
    const isInside = groupIndex >= 0 && groupIndex < facts.groupSize;
    out.expect("identity", isInside, place, `0 ≤ group_index < ${facts.groupSize}`, groupIndex);
    out.expect("identity", index > before, place, `a trajectory index over ${before}`, index);
    before = index;
  }
}

function checkComplete(
  groups: ReadonlyMap<number, readonly TrajectoryRow[]>,
  facts: StepFacts,
  out: Reporter,
): boolean {
  let isWhole = true;
  for (const [question, rows] of groups) {
    const members = new Set(rows.map((row) => row.groupIndex)).size;
    const holds = members === facts.groupSize && rows.length === facts.groupSize;
    const expected = `${facts.groupSize} trajectories of question ${question}`;
    out.expect("group_complete", holds, { where: facts.names.trajectories }, expected, rows.length);
    isWhole &&= holds;
  }
  return isWhole;
}

function checkScores(
  step: StepDatums,
  rows: readonly TrajectoryRow[],
  facts: StepFacts,
  out: Reporter,
): void {
  for (const [row, trajectory] of step.trajectories.entries()) {
    const at = { where: facts.names.trajectories, row };
    const seen = rows[row];
    if (seen === undefined) continue;
    const { advantage, noDatum } = trajectory;
    const place = { ...at, column: "advantage" };
    out.expect("advantage_value", seen.advantage === advantage, place, advantage, seen.advantage);
    const reason = { ...at, column: "no_datum" };
    out.expect("exported", seen.noDatum === noDatum, reason, noDatum ?? "a datum", seen.noDatum);
    const reward = trajectory.score?.reward ?? null;
    out.expect("outcome", seen.reward === reward, { ...at, column: "reward" }, reward, seen.reward);
  }
}

function checkDatums(
  step: StepDatums,
  rows: Iterable<DatumRow>,
  facts: StepFacts,
  out: Reporter,
): void {
  const name = (question: number, group: number) => `${question}/${group}`;
  const missing = new Map(step.datums.map((t) => [name(t.group.question, t.member.index), t]));
  let row = -1;
  for (const seen of rows) {
    row += 1;
    const key = name(seen.questionIndex, seen.groupIndex);
    const at = { where: facts.names.datums, row };
    const source = missing.get(key);
    out.expect("exported", source !== undefined, at, "a trajectory with a signal, once", key);
    if (source === undefined) continue;
    missing.delete(key);
    const datum = projectDatum(source.member, source.advantage, facts.datums.maxContextTokens);
    compareArrays("input_tokens", datum.inputTokens, seen.inputTokens, at, out);
    compareArrays("target_tokens", datum.targetTokens, seen.targetTokens, at, out);
    compareArrays("loss_mask", datum.lossMask, seen.lossMask, at, out);
    compareArrays("old_logprobs", datum.oldLogprobs, seen.oldLogprobs, at, out);
    compareArrays("advantages", datum.advantages, seen.advantages, at, out);
    compareArrays("turn_ends", datum.turnEnds, seen.turnEnds, at, out);
    const stats = seen.groupMean === source.groupMean && seen.groupScored === source.groupScored;
    const expected = `${source.groupMean} over ${source.groupScored}`;
    const found = `${seen.groupMean} over ${seen.groupScored}`;
    out.expect("group_stats", stats, { ...at, column: "group_mean" }, expected, found);
    const same = seen.reward === source.score.reward;
    const place = { ...at, column: "reward" };
    out.expect("outcome", same, place, source.score.reward, seen.reward);
  }
  for (const key of missing.keys()) {
    out.fail("exported", { where: facts.names.datums }, `a datum of ${key}`, "none");
  }
}

function compareArrays(
  column: string,
  expected: ArrayLike<number>,
  seen: ArrayLike<number>,
  at: { readonly where: string; readonly row: number },
  out: Reporter,
): void {
  out.checked("mask_sampled", expected.length);
  const place = { ...at, column };
  if (expected.length !== seen.length) {
    out.fail("mask_sampled", place, `${expected.length} values`, seen.length);
    return;
  }
  for (let position = 0; position < expected.length; position++) {
    if (expected[position] === seen[position]) continue;
    out.fail("mask_sampled", { ...place, position }, expected[position], seen[position]);
    return;
  }
}

function checkMetrics(expected: Metrics, seen: Metrics, facts: StepFacts, out: Reporter): void {
  for (const [name, value] of Object.entries(expected)) {
    const place = { where: facts.names.metrics, column: name };
    out.expect("metrics", seen[name] === value, place, value, seen[name] ?? "missing");
  }
}

function checkLedgerFile(step: StepDatums, seen: Ledger, facts: StepFacts, out: Reporter): void {
  const where = facts.names.ledger;
  for (const problem of checkLedger(seen)) out.fail("ledger", { where }, "it balances", problem);
  const { total } = seen.trajectories;
  if (total < step.trajectories.length) {
    out.fail("ledger", { where }, `at least ${step.trajectories.length} asked for`, total);
    return;
  }
  // Retries are the ports' own count: nothing in the files tells them again.
  const expected = buildLedger(step, { asked: total, retries: seen.retries });
  for (const name of Object.keys(expected) as (keyof Ledger)[]) {
    const [want, have] = [canonical(expected[name]), canonical(seen[name])];
    out.expect("ledger", want === have, { where, column: name }, want, have);
  }
}

/** JSON with sorted keys, so that the order of causes does not matter. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) =>
    typeof item === "object" && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}
