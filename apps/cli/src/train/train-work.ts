/** The work of `interlace train`, from flags to an exit code. */
import type { MathExample } from "@interlace/core";
import { embeddedPolicyFolder, embeddedProblemFiles } from "@interlace/sampler-clients";
import type { CliContext } from "../cli-context.ts";
import type { TrainFlags } from "../commands/train.ts";
import type { Config } from "../config/schema.ts";
import { wrongUse } from "../person-error.ts";
import { isBuiltInData } from "../rollout/open-problems.ts";
import { columnMapOf, readProblemFile } from "../data-files/read-problem-file.ts";
import { startRun } from "../rollout/start-run.ts";
import { checkpointsOf } from "./checkpoints.ts";
import { trainFlagSettings } from "./flag-settings.ts";
import { openLearnerEnv } from "./learner-env.ts";
import { startLearner, type LearnerCommand } from "./learner-process.ts";
import { resumeCommand } from "../run-folder/resume-command.ts";
import { reportTraining, reportTrainingStep } from "./report-training.ts";
import { openTracker } from "./tracker.ts";
import { trainSteps } from "./training-loop.ts";
import { writePlot } from "./write-plot.ts";

export async function trainWork(context: CliContext, flags: TrainFlags): Promise<0 | 1> {
  const { terminal } = context;
  const isJson = flags.json === true;
  await using stack = new AsyncDisposableStack();
  let learning: { heldOut: readonly MathExample[]; command: LearnerCommand } | null = null;
  const started = await startRun(
    context,
    flags,
    {
      command: "train",
      settings: trainFlagSettings(flags),
      // A run that cannot learn is not started.
      async before(config, tell) {
        refuseUnlearnable(config);
        const heldOut = await openHeldOut(config);
        learning = { heldOut, command: await openLearnerEnv(config.train, tell) };
      },
    },
    stack,
  );
  if (started === null || learning === null) return 0;
  const { heldOut, command } = learning;
  const { run, folder, resumed, interrupts } = started;
  const { train } = run.config;
  const tell = (line: string): void => terminal.note(`interlace: ${line}`);
  const tracker = await openTracker(command, run, folder, tell);
  const learner = stack.use(startLearner(command));
  const end = await trainSteps({
    run,
    folder,
    learner,
    checkpoints: checkpointsOf(folder, train.runName ?? folder.id),
    policy: train.policy ?? embeddedPolicyFolder,
    heldOut,
    done: resumed?.done ?? [],
    retryFailed: flags.retryFailed === true,
    interrupts,
    terminal,
    onStep: (lines) => {
      const line = lines.at(-1);
      if (line !== undefined) tracker.log(line);
      reportTrainingStep(lines, run.config, isJson, terminal);
    },
  }).catch(async (error: unknown) => {
    await tracker.close(true);
    throw error;
  });
  const hasFailed = end.end !== "complete" || end.ungraded !== null;
  await tracker.close(hasFailed);
  const plot = await writePlot(folder, end.lines);
  const goOn = resumeCommand({ command: "train", folder, config: run.config, resumed });
  reportTraining({ end, folder, goOn, plot }, isJson, terminal);
  return hasFailed ? 1 : 0;
}

/** Where a step begins depends on how many problems the one before it met: it cannot begin before that is known. */
function refuseUnlearnable({ train, dynamicSampling }: Config): void {
  if (dynamicSampling.enabled && dynamicSampling.oversample > 0) {
    throw wrongUse(
      "dynamic_sampling.oversample is over 0: a group that is carried over would be sampled from two steps' weights; " +
        "train takes 0",
    );
  }
  if (train.maxStaleness === 0 || !dynamicSampling.enabled) return;
  throw wrongUse(
    "train.max_staleness is over 0 and dynamic_sampling.enabled is true: steps would overlap before it is known " +
      "which problems they meet; use one of them",
  );
}

async function openHeldOut({ train, data }: Config) {
  if (train.evaluateEvery === 0) return [];
  const path = train.heldOut ?? (isBuiltInData(data) ? embeddedProblemFiles.heldOut : null);
  // Problems of another file say nothing of what is learnt from this one.
  if (path === null) return [];
  return (await readProblemFile(path, columnMapOf(data.columns))).problems;
}
