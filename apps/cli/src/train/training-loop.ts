/**
 * The loop: roll out → datums → one optimizer step → new weights → roll out with them (datum.md §6). In: what was
 * opened. Out: how it ended. A step's full stop is its metrics line: what stands before it is done again on resume,
 * from the same datums, to the same weights.
 */
import { existsSync } from "node:fs";
import { weightVersion, type MathExample, type Metrics } from "@interlace/core";
import { workFailed } from "../person-error.ts";
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
  readonly interrupts: Interrupts;
  readonly terminal: Terminal;
  /** Called after every step, with all lines so far. */
  readonly onStep: (lines: readonly MetricsLine[]) => void;
};

export type TrainingEnd =
  | { readonly end: "complete"; readonly lines: readonly MetricsLine[] }
  | {
      readonly end: "interrupted" | "failed";
      readonly step: number;
      readonly lines: readonly MetricsLine[];
      readonly result: Exclude<StepResult, { end: "complete" }> | null;
    };

export async function trainSteps(input: TrainingInput): Promise<TrainingEnd> {
  const { run, folder, checkpoints, interrupts, terminal } = input;
  const { maxSteps, saveEvery } = run.config.train;
  const lines: MetricsLine[] = [...input.done];
  await openLearner(input);
  const giveWeights = createWeightGiver(input);
  for (let step = lines.length; step < maxSteps; step++) {
    await giveWeights(step);
    const result = await rollOutStep({
      run,
      folder,
      step,
      retryFailed: false,
      interrupts,
      terminal,
      label: `step ${step + 1}/${maxSteps}`,
      finish: (files) => learnStep(input, giveWeights, files, step, lines),
    });
    if (result.end !== "complete") return { end: result.end, step, lines, result };
    lines.push({ step, ...result.metrics });
    input.onStep(lines);
    if (interrupts.signal.aborted)
      return { end: "interrupted", step: step + 1, lines, result: null };
  }
  const isSaved = saveEvery > 0 && maxSteps % saveEvery === 0;
  if (!isSaved || !existsSync(checkpoints.weights(null))) await saveBoth(input, null, maxSteps);
  return { end: "complete", lines };
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

type WeightGiver = (step: number) => Promise<void>;

/** Every step, before it: the sampler gets what the learner has; an evaluation may have given it already. */
function createWeightGiver({ run, learner, checkpoints, interrupts }: TrainingInput): WeightGiver {
  const { weights, identity } = run.ports;
  if (weights === null) {
    throw workFailed(`The ${identity.kind} sampler cannot load weights while it runs`);
  }
  let given: number | null = null;
  return async (step) => {
    if (given === step) return;
    const location = checkpoints.current(step);
    const { version } = await learner.ask({ type: "export", weights: location }, "exported");
    await weights.announce(weightVersion(String(version)), location, interrupts.signal);
    given = step;
    checkpoints.dropCurrentBefore(step);
  };
}

async function learnStep(
  input: TrainingInput,
  giveWeights: WeightGiver,
  files: StepFolder,
  step: number,
  before: readonly MetricsLine[],
): Promise<Metrics> {
  const { run, learner } = input;
  const { saveEvery } = run.config.train;
  const reply = await learner.ask({ type: "update", datums: files.datums }, "updated");
  const learnt = reply["metrics"] as Readonly<Record<string, number>>;
  const trainer = Object.entries(learnt).map(
    ([name, value]) => [`trainer/${name}`, value] as const,
  );
  const scores = await evaluateStep(input, giveWeights, step, before);
  if (saveEvery > 0 && (step + 1) % saveEvery === 0) await saveBoth(input, step + 1, step + 1);
  return { ...Object.fromEntries(trainer), ...scores };
}

/** With the new weights, which the next step samples with too; the best are kept. */
async function evaluateStep(
  input: TrainingInput,
  giveWeights: WeightGiver,
  step: number,
  before: readonly MetricsLine[],
): Promise<Metrics> {
  const { run, learner, checkpoints, heldOut, interrupts } = input;
  const { evaluateEvery, maxSteps } = run.config.train;
  const isDue = evaluateEvery > 0 && ((step + 1) % evaluateEvery === 0 || step + 1 === maxSteps);
  if (!isDue || heldOut.length === 0) return {};
  await giveWeights(step + 1);
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
