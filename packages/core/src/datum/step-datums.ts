/**
 * In: the complete groups of one step. Out: every trajectory with its score and advantage, which of them give
 * a datum, why the others do not, and the micro-batches. Refuses to know files, learners and metrics.
 */
import { createEstimator, type AdvantageEstimator, type Rewards } from "../advantage/estimator.ts";
import { isDegenerate } from "../advantage/group-centred.ts";
import { scoreGrade, type Score } from "../reward/score.ts";
import { isGraded, trajectoryIndex, type GradedMember, type Group } from "../rollout/group.ts";
import {
  allocateArrays,
  datumLength,
  findNoDatumReason,
  projectDatum,
  sliceArrays,
  type Datum,
  type DatumArrays,
  type NoDatumReason,
} from "./datum.ts";
import { packMicroBatches, type MicroBatch, type PackingLimits } from "./micro-batches.ts";

/** One trajectory of a step, after scoring. */
export type ScoredTrajectory = {
  readonly group: Group;
  readonly member: GradedMember;
  /** null = unscored. */
  readonly score: Score | null;
  /** null iff unscored. */
  readonly advantage: number | null;
  /** Mean reward of the group's scored members; null = none is scored. */
  readonly groupMean: number | null;
  /** Scored members of the group. */
  readonly groupScored: number;
  /** null = it gives a datum. */
  readonly noDatum: NoDatumReason | null;
};

/** A trajectory that gives a datum. */
export type TrainedTrajectory = ScoredTrajectory & {
  readonly score: Score;
  readonly advantage: number;
  readonly groupMean: number;
  readonly noDatum: null;
};

export type StepDatums = {
  /** All of them, by trajectory index. */
  readonly trajectories: readonly ScoredTrajectory[];
  /** Those with a datum, by trajectory index; `MicroBatch.items` point into this list. */
  readonly datums: readonly TrainedTrajectory[];
  readonly microBatches: readonly MicroBatch[];
  /** N: scored trajectories, with a datum or without, but for those set aside. */
  readonly scored: number;
  readonly maxContextTokens: number;
};

export type StepDatumsOptions = {
  /** Tokens of the longest datum that the learner takes. */
  readonly maxContextTokens: number;
  /** Absent = 32 items, 64,000 padded tokens. */
  readonly packing?: PackingLimits;
  /** Absent = ±1 by grade. */
  readonly score?: (member: GradedMember, group: Group) => Score | null;
  /** Sees the whole batch, by group. Absent = reward minus the mean of the group. */
  readonly estimate?: AdvantageEstimator;
  /** Dynamic sampling: a group whose scored rewards are all equal is set aside. Absent = it only gives no datum. */
  readonly setAsideDegenerate?: boolean;
  /** Failure policy: a group with fewer scored members is set aside. Absent = 1. */
  readonly minScored?: number;
};

/** `groups` in any order. Throws on a member that is not graded and on two groups with one question index. */
export function prepareStep(groups: readonly Group[], options: StepDatumsOptions): StepDatums {
  const ordered = [...groups].sort((a, b) => a.question - b.question);
  for (const [i, group] of ordered.entries()) {
    if (ordered[i + 1]?.question === group.question) {
      throw new Error(`Expected one group per question index, got two for ${group.question}`);
    }
  }
  const scoredGroups = ordered.map((group) => scoreGroup(group, options));
  const rewards = scoredGroups.map(({ scores }) => scores.map((score) => score?.reward ?? null));
  const aside = rewards.map((each) => reasonToSetAside(each, options));
  const estimate = options.estimate ?? createEstimator("group_centred");
  const advantages = estimate(rewards.filter((_, i) => aside[i] === null))[Symbol.iterator]();
  const trajectories = scoredGroups.flatMap((each, i) => {
    const own = rewards[i] ?? [];
    const reason = aside[i] ?? null;
    if (reason === null) {
      return joinAdvantages(each, own, advantages.next().value ?? [], options.maxContextTokens);
    }
    const none = own.map((reward) => (reward === null ? null : 0));
    return joinAdvantages(each, own, none, options.maxContextTokens).map((trajectory) =>
      // What is unscored has its own cause already.
      trajectory.score === null ? trajectory : { ...trajectory, noDatum: reason },
    );
  });
  const datums = trajectories.filter(isTrained);
  const scored = trajectories.filter(
    ({ score, noDatum }) =>
      score !== null && noDatum !== "no_signal" && noDatum !== "group_too_small",
  ).length;
  const lengths = datums.map(({ member }) => datumLength(member));
  const microBatches =
    lengths.length === 0 ? [] : packMicroBatches(lengths, scored, options.packing);
  return { trajectories, datums, microBatches, scored, maxContextTokens: options.maxContextTokens };
}

/**
 * Datums of one micro-batch in packing order; their arrays lie one behind the other in one piece of memory:
 * the beginning of `arena`, whose content is lost, or new memory when it is absent. Fresh pages cost more than
 * the copying, so who is done with a batch before it asks for the next one gives an arena.
 */
export function projectMicroBatch(
  step: StepDatums,
  { items }: MicroBatch,
  arena?: DatumArrays,
): readonly Datum[] {
  const sources = items.map((index) => {
    const source = step.datums[index];
    if (source === undefined) {
      throw new RangeError(`Expected an index below ${step.datums.length}, got ${index}`);
    }
    return source;
  });
  const lengths = sources.map(({ member }) => datumLength(member));
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const memory = arena ?? allocateArrays(total);
  if (memory.inputTokens.length < total) {
    throw new RangeError(
      `Expected memory for ${total} positions, got ${memory.inputTokens.length}`,
    );
  }
  let at = 0;
  return sources.map(({ group, member, advantage }, i) => {
    const end = at + (lengths[i] ?? 0);
    const into = sliceArrays(memory, at, end);
    at = end;
    try {
      return projectDatum(member, advantage, step.maxContextTokens, into);
    } catch (error) {
      throw new Error(
        `Trajectory ${trajectoryIndex(group, member)} of question ${group.question}`,
        {
          cause: error,
        },
      );
    }
  });
}

/** An arena that holds any micro-batch of the step. */
export function allocateArena(step: StepDatums): DatumArrays {
  const lengths = step.datums.map(({ member }) => datumLength(member));
  const totals = step.microBatches.map(({ items }) =>
    items.reduce((sum, index) => sum + (lengths[index] ?? 0), 0),
  );
  return allocateArrays(totals.reduce((most, total) => Math.max(most, total), 0));
}

export function isTrained(trajectory: ScoredTrajectory): trajectory is TrainedTrajectory {
  return trajectory.noDatum === null;
}

/** Why a whole group is outside the estimate and the mean over samples; null = it is not. */
function reasonToSetAside(
  rewards: readonly (number | null)[],
  { minScored = 1, setAsideDegenerate = false }: StepDatumsOptions,
): "no_signal" | "group_too_small" | null {
  const scored = rewards.filter((reward) => reward !== null).length;
  if (scored > 0 && scored < minScored) return "group_too_small";
  return setAsideDegenerate && isDegenerate(rewards) ? "no_signal" : null;
}

type ScoredGroup = {
  readonly group: Group;
  readonly members: readonly GradedMember[];
  readonly scores: readonly (Score | null)[];
};

function scoreGroup(group: Group, options: StepDatumsOptions): ScoredGroup {
  const score = options.score ?? ((member) => scoreGrade(member.phase.grade));
  const members = group.members.map((member) => {
    if (isGraded(member)) return member;
    throw new Error(
      `Expected complete groups, got member ${member.index} of question ${group.question}: ${member.phase.type}`,
    );
  });
  return { group, members, scores: members.map((member) => score(member, group)) };
}

function joinAdvantages(
  { group, members, scores }: ScoredGroup,
  rewards: Rewards,
  advantages: Rewards,
  maxContextTokens: number,
): ScoredTrajectory[] {
  if (advantages.length !== rewards.length) {
    throw new Error(
      `Expected ${rewards.length} advantages of question ${group.question}, got ${advantages.length}`,
    );
  }
  const known = rewards.filter((reward) => reward !== null);
  const groupMean =
    known.length === 0 ? null : known.reduce((sum, reward) => sum + reward, 0) / known.length;
  return members.map((member, i) => {
    const own = scores[i] ?? null;
    // An estimator has no say over what is unscored, and must have one over what is scored.
    const advantage = own === null ? null : (advantages[i] ?? NaN);
    if (Number.isNaN(advantage)) {
      throw new Error(
        `Expected an advantage of member ${i} of question ${group.question}, which is scored, got ${advantages[i]}`,
      );
    }
    return {
      group,
      member,
      score: own,
      advantage,
      groupMean,
      groupScored: known.length,
      noDatum: findNoDatumReason(member, advantage, maxContextTokens),
    };
  });
}
