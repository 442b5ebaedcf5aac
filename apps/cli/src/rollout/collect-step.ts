/**
 * All groups of a step. In: a plan, problems, ports. Out: complete groups, or why the step stays open. With dynamic
 * sampling problems follow until enough groups have a signal or the bound is reached; which ones does not depend on
 * what ends first, so a step that goes on, or is replayed, meets the same. With over-sampling it does depend on it:
 * the log then says which questions the batch consists of.
 */
import {
  collect,
  createFailureBudget,
  DEFAULT_FAILURE_POLICY,
  selectGroups,
  type Batch,
  type CollectOptions,
  type Group,
  type MathExample,
  type Member,
  type Plan,
  type Ports,
} from "@interlace/core";
import type { Config } from "../config/schema.ts";
import { hasSignal } from "./step-options.ts";
import type { StepProblems } from "./step-problems.ts";

export type CollectedStep = Batch & {
  /** Groups with a signal that are missing to a whole batch; 0 without dynamic sampling. */
  readonly missing: number;
  /** Problems opened, those of carried groups included. */
  readonly opened: number;
};

export type CollectStepOptions = CollectOptions & {
  /** Another problem was opened, so many trajectories are expected in all. */
  readonly onExpected?: (trajectories: number) => void;
  /** Questions that the batch was found to consist of; null = that is still to be found. */
  readonly questions: readonly number[] | null;
};

export async function collectStep(
  plan: Plan,
  config: Config,
  problems: StepProblems,
  ports: Ports,
  options: CollectStepOptions,
): Promise<CollectedStep> {
  const { questions } = options;
  if (questions !== null) {
    const own = questions.map(problems.at);
    const questionIndex = (position: number): number => questions[position] ?? NaN;
    const batch = await collect(plan, own, ports, { ...options, questionIndex });
    return { ...batch, missing: 0, opened: questions.length };
  }
  if (config.dynamicSampling.enabled) return selectStep(plan, config, problems, ports, options);
  const batch = await collect(plan, problems.first, ports, options);
  return { ...batch, missing: 0, opened: problems.first.length };
}

async function selectStep(
  plan: Plan,
  config: Config,
  problems: StepProblems,
  ports: Ports,
  options: CollectStepOptions,
): Promise<CollectedStep> {
  const wanted = config.data.questionsPerBatch;
  const bound = config.dynamicSampling.maxProblems ?? 3 * wanted;
  const { groupSize } = plan.config;
  const { maxFailedFraction = DEFAULT_FAILURE_POLICY.maxFailedFraction } = options;
  let opened = 0;
  const expected = (): number => Math.max(wanted, opened) * groupSize;
  const budget = createFailureBudget({ maxFailedFraction }, expected);
  function* supply(): Generator<MathExample> {
    for (;;) {
      yield problems.at(opened++);
      options.onExpected?.(expected());
    }
  }
  const onSettled = (group: Group, member: Member): void => {
    budget.settled(member);
    options.onSettled?.(group, member);
  };
  const signals = options.signal === undefined ? [] : [options.signal];
  const signalled = hasSignal(config);
  const selection = await selectGroups(plan, supply(), ports, {
    ...options,
    groups: wanted,
    maxProblems: bound,
    oversample: config.dynamicSampling.oversample,
    dropReason: (group) => (signalled(group) ? null : "no_signal"),
    onSettled,
    signal: AbortSignal.any([budget.signal, ...signals]),
  });
  const dropped = [...selection.dropped.values()].flat();
  const groups = [...selection.groups, ...dropped].toSorted((a, b) => a.question - b.question);
  const result = {
    groups,
    failures: budget.failures,
    missing: wanted - selection.groups.length,
    opened: selection.opened,
  };
  if (budget.signal.aborted) return { end: "failed", ...result };
  return { end: selection.end === "interrupted" ? "interrupted" : "complete", ...result };
}
