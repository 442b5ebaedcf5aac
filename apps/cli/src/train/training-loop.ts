/**
 * The loop: roll out → datums → one optimizer step → new weights → roll out with them (datum.md §6). In: what was
 * opened. Out: how it ended. A step's full stop is its metrics line: what stands before it is done again on resume,
 * from the same datums, to the same weights.
 */
import { existsSync } from "node:fs";
import { weightVersion, type MathExample, type Metrics } from "@interlace/core";
import { workFailed } from "../person-error.ts";
import type { ExportedStep } from "../rollout/export-step.ts";
import { sumGradingLosses, type GradingLoss } from "../rollout/grading-loss.ts";
import type { PreparedRun } from "../rollout/prepare-run.ts";
import { rollOutStep, type StepResult } from "../rollout/roll-out-step.ts";
import type { MetricsLine } from "../run-folder/metrics-file.ts";
import { stepFolderOf, type RunFolder, type StepFolder } from "../run-folder/run-folder.ts";
import type { Interrupts } from "../terminal/interrupts.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { Checkpoints } from "./checkpoints.ts";
import { evaluatePolicy } from "./evaluate-policy.ts";
import { learnerOptions } from "./learner-options.ts";
import type { LearnerProcess } from "./learner-process.ts";

export type TrainingInput = {
  readonly run: PreparedRun;
  readonly folder: RunFolder;
  readonly learner: LearnerProcess;
  readonly checkpoints: Checkpoints;
  /** Folder of the policy that is trained. */
  readonly policy: string;
  readonly heldOut: readonly MathExample[];
  /** Metrics lines of the steps that are done. */
  readonly done: readonly MetricsLine[];
  /** Ask again what failed in the open step. */
  readonly retryFailed: boolean;
  readonly interrupts: Interrupts;
  readonly terminal: Terminal;
  /** Called after every step, with all lines so far. */
  readonly onStep: (lines: readonly MetricsLine[]) => void;
};

export type TrainingEnd =
  | {
      readonly end: "complete";
      readonly lines: readonly MetricsLine[];
      /** Of the steps of this process; null = the grader decided on something. */
      readonly ungraded: GradingLoss | null;
    }
  | {
      readonly end: "interrupted" | "failed";
      readonly step: number;
      readonly lines: readonly MetricsLine[];
      readonly result: Exclude<StepResult, { end: "complete" }> | null;
    };

/** An abort may end it anywhere, also while weights are loaded: then it is interrupted, not broken. */
export async function trainSteps(input: TrainingInput): Promise<TrainingEnd> {
  const lines: MetricsLine[] = [...input.done];
  try {
    return await trainOn(input, lines);
  } catch (error) {
    if (!input.interrupts.signal.aborted) throw error;
    return { end: "interrupted", step: lines.length, lines, result: null };
  }
}

/**
 * With `max_staleness` s > 0 the next steps are rolled out while this one is learnt from: at most s updates lie
 * between the weights that a trajectory began with and the update that it is used for. Steps end in order.
 */
async function trainOn(input: TrainingInput, lines: MetricsLine[]): Promise<TrainingEnd> {
  const { run, folder, checkpoints, interrupts, terminal } = input;
  const { maxSteps, saveEvery, maxStaleness } = run.config.train;
  await openLearner(input);
  const giver = createWeightGiver(input);
  await giver.give(lines.length);
  const underWay: Promise<StepResult>[] = [];
  const losses: (GradingLoss | null)[] = [];
  let step = lines.length;

  /** The oldest step under way, to its end; what is no complete step ends the training. */
  async function endOldest(): Promise<TrainingEnd | null> {
    const result = await underWay.shift();
    if (result === undefined) return null;
    if (result.end !== "complete") {
      // Later steps stay open: their logs hold what was answered.
      await Promise.allSettled(underWay);
      return { end: result.end, step: lines.length, lines, result };
    }
    lines.push({ step: lines.length, ...result.metrics });
    losses.push(result.ungraded);
    input.onStep(lines);
    return null;
  }

  for (; step < maxSteps && !interrupts.signal.aborted; step++) {
    const before = underWay.at(-1);
    const rolled = Promise.withResolvers<null>();
    const index = step;
    const current = rollOutStep({
      run,
      folder,
      step,
      retryFailed: input.retryFailed && step === input.done.length,
      interrupts,
      terminal,
      label: `step ${step + 1}/${maxSteps}`,
      finish: async (files, exported) => {
        rolled.resolve(null);
        if (before !== undefined && (await before).end !== "complete") {
          throw workFailed(`Step ${index + 1} waits for step ${index}, which is still open`);
        }
        return learnStep(input, giver, { files, exported, step: index }, lines);
      },
    });
    // It is awaited in its turn; until then a failure must not end the process.
    current.catch(() => {});
    underWay.push(current);
    await Promise.race([rolled.promise, current]);
    while (underWay.length > maxStaleness) {
      const end = await endOldest();
      if (end !== null) return end;
    }
  }
  while (underWay.length > 0) {
    const end = await endOldest();
    if (end !== null) return end;
  }
  if (lines.length < maxSteps) return { end: "interrupted", step, lines, result: null };
  const isSaved = saveEvery > 0 && maxSteps % saveEvery === 0;
  if (!isSaved || !existsSync(checkpoints.weights(null))) await saveBoth(input, null, maxSteps);
  return { end: "complete", lines, ungraded: sumGradingLosses(losses) };
}

/** Fresh, or from the last state and the datums of the steps since: the same numbers, whatever was interrupted. */
async function openLearner({ run, folder, learner, checkpoints, policy, done }: TrainingInput) {
  const last = checkpoints.lastState(done.length);
  if (last === null) {
    await learner.ask({ type: "open", policy, config: learnerOptions(run.config) }, "ready");
  } else {
    await learner.ask({ type: "resume", state: last.path }, "ready");
  }
  for (let step = last?.steps ?? 0; step < done.length; step++) {
    await learner.ask({ type: "update", datums: stepFolderOf(folder, step).datums }, "updated");
  }
}

type WeightGiver = {
  /** The sampler gets what the learner has before step `step`; an evaluation may have given it already. */
  readonly give: (step: number) => Promise<void>;
  /** The step for which a version was given; undefined = by an earlier process. */
  readonly stepOf: (version: string) => number | undefined;
};

function createWeightGiver({ run, learner, checkpoints, interrupts }: TrainingInput): WeightGiver {
  const { weights, identity } = run.ports;
  if (weights === null) {
    throw workFailed(`The ${identity.kind} sampler cannot load weights while it runs`);
  }
  const steps = new Map<string, number>();
  let given: number | null = null;
  return {
    stepOf: (version) => steps.get(version),
    async give(step) {
      if (given === step) return;
      const location = checkpoints.current(step);
      const { version } = await learner.ask({ type: "export", weights: location }, "exported");
      const name = String(version);
      await weights.announce(weightVersion(name), location, interrupts.signal);
      // An update that was skipped leaves the weights as they were: they are no older for it.
      steps.set(name, step);
      given = step;
      checkpoints.dropCurrentBefore(step);
    },
  };
}

type RolledStep = {
  readonly files: StepFolder;
  readonly exported: ExportedStep;
  readonly step: number;
};

async function learnStep(
  input: TrainingInput,
  giver: WeightGiver,
  { files, exported, step }: RolledStep,
  before: readonly MetricsLine[],
): Promise<Metrics> {
  const { run, learner, interrupts } = input;
  const { saveEvery, maxSteps } = run.config.train;
  const reply = await learner.ask({ type: "update", datums: files.datums }, "updated");
  const learnt = reply["metrics"] as Readonly<Record<string, number>>;
  const trainer = Object.entries(learnt).map(
    ([name, value]) => [`trainer/${name}`, value] as const,
  );
  const scores = await evaluateStep(input, giver, step, before);
  if (saveEvery > 0 && (step + 1) % saveEvery === 0) await saveBoth(input, step + 1, step + 1);
  // What is rolled out from here on, also in the middle of a trajectory, comes from the new weights.
  if (step + 1 < maxSteps && !interrupts.signal.aborted) await giver.give(step + 1);
  return { ...Object.fromEntries(trainer), ...scores, ...measureStaleness(exported, giver, step) };
}

/** Updates between the weights that a trajectory began with and this one, over trajectories with a datum. */
function measureStaleness({ datums }: ExportedStep, giver: WeightGiver, step: number): Metrics {
  const ages = datums.datums.flatMap(({ member }) => {
    const version = member.turns[0]?.versions[0]?.version;
    const given = version === undefined || version === null ? undefined : giver.stepOf(version);
    return given === undefined ? [] : [Math.max(0, step - given)];
  });
  if (ages.length === 0) return {};
  return {
    "rollout/staleness_mean": ages.reduce((sum, age) => sum + age, 0) / ages.length,
    "rollout/staleness_max": Math.max(...ages),
  };
}

/** With the new weights, which the next step samples with too; the best are kept. */
async function evaluateStep(
  input: TrainingInput,
  giver: WeightGiver,
  step: number,
  before: readonly MetricsLine[],
): Promise<Metrics> {
  const { run, learner, checkpoints, heldOut, interrupts } = input;
  const { evaluateEvery, maxSteps } = run.config.train;
  const isDue = evaluateEvery > 0 && ((step + 1) % evaluateEvery === 0 || step + 1 === maxSteps);
  if (!isDue || heldOut.length === 0) return {};
  await giver.give(step + 1);
  const score = await evaluatePolicy(run, heldOut, interrupts.signal);
  if (score === null) return {};
  const best = Math.max(-Infinity, ...before.map((line) => line["eval/reward"] ?? -Infinity));
  if (score.reward > best)
    await learner.ask({ type: "export", weights: checkpoints.best }, "exported");
  return {
    "eval/reward": score.reward,
    "eval/correct": score.correct,
    "eval/scored": score.scored,
  };
}

async function saveBoth(
  { learner, checkpoints, terminal }: TrainingInput,
  name: number | null,
  steps: number,
): Promise<void> {
  const state = checkpoints.state(name);
  const weights = checkpoints.weights(name);
  await learner.ask({ type: "save", state, cursor: { step: steps } }, "saved");
  await learner.ask({ type: "export", weights }, "exported");
  terminal.note(`saved    ${state}`);
  terminal.note(`         ${weights}`);
}
