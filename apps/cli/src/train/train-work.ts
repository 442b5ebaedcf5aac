/** The work of `interlace train`, from flags to an exit code. */
import { embeddedPolicyFolder, embeddedProblemFiles } from "@interlace/sampler-clients";
import type { CliContext } from "../app.ts";
import type { TrainFlags } from "../commands/train.ts";
import { listSettings, printConfig } from "../config/print.ts";
import type { Config } from "../config/schema.ts";
import { columnMapOf, readProblemFile } from "../data-files/read-problem-file.ts";
import { describeStart } from "../rollout/describe-start.ts";
import { prepareRun } from "../rollout/prepare-run.ts";
import { settleConfig } from "../rollout/settle-config.ts";
import { createRun, resumeRun } from "../run-folder/open-run.ts";
import { newRunId } from "../run-folder/run-folder.ts";
import { writeRunRecord } from "../run-folder/run-record.ts";
import { listenForInterrupts } from "../terminal/interrupts.ts";
import { checkpointsOf } from "./checkpoints.ts";
import { trainFlagSettings } from "./flag-settings.ts";
import { openLearnerEnv } from "./learner-env.ts";
import { startLearner } from "./learner-process.ts";
import { reportTraining, reportTrainingStep } from "./report-training.ts";
import { trainSteps } from "./training-loop.ts";
import { writePlot } from "./write-plot.ts";

export async function trainWork(context: CliContext, flags: TrainFlags): Promise<0 | 1> {
  const { terminal, env } = context;
  const sources = {
    flags: trainFlagSettings(flags),
    env,
    file: flags.config,
    preset: flags.preset,
  };
  await using stack = new AsyncDisposableStack();
  const resumed =
    flags.resume === undefined ? null : await resumeRun(flags.resume, flags.out ?? "runs");
  if (resumed !== null) stack.use(resumed.lock);
  const resolved = await settleConfig(sources, resumed?.record ?? null);
  const { config } = resolved;
  if (flags.printConfig === true) {
    const isJson = flags.json === true;
    terminal.out(
      isJson ? JSON.stringify(Object.fromEntries(listSettings(resolved))) : printConfig(resolved),
    );
    return 0;
  }
  using interrupts = listenForInterrupts(() =>
    terminal.note("Stopping after what runs now is cancelled (again: stop at once)"),
  );
  const tell = (line: string): void => terminal.note(`interlace: ${line}`);
  // Looked at before anything is sampled: a run that cannot learn is not started.
  const heldOut = await openHeldOut(config);
  const command = await openLearnerEnv(config.train.python, tell);
  const now = new Date();
  const identity = { id: newRunId(now, Math.random), now };
  const surroundings = { stack, signal: interrupts.signal, tell };
  const run = await prepareRun(resolved, resumed?.record ?? null, identity, surroundings);
  const learner = stack.use(startLearner(command));
  const folder = resumed?.folder ?? createFolder(run.config, run.record.run_id, stack);
  if (resumed === null) await writeRunRecord(folder, run.record);
  for (const line of describeStart(run, folder, resumed)) terminal.note(line);
  const end = await trainSteps({
    run,
    folder,
    learner,
    checkpoints: checkpointsOf(folder, config.train.runName ?? folder.id),
    policy: config.train.policy ?? embeddedPolicyFolder,
    heldOut,
    done: resumed?.done ?? [],
    interrupts,
    terminal,
    onStep: (lines) => reportTrainingStep(lines, config, flags.json === true, terminal),
  });
  const plot = await writePlot(folder, end.lines);
  reportTraining({ end, folder, plot }, flags.json === true, terminal);
  return end.end === "complete" ? 0 : 1;
}

function createFolder(config: Config, id: string, stack: AsyncDisposableStack) {
  const { folder, lock } = createRun(config.run.out, id);
  stack.use(lock);
  return folder;
}

async function openHeldOut({ train, data }: Config) {
  if (train.evaluateEvery === 0) return [];
  const path = train.heldOut ?? (data.path === null ? embeddedProblemFiles.heldOut : null);
  // Problems of another file say nothing of what is learnt from this one.
  if (path === null) return [];
  return (await readProblemFile(path, columnMapOf(data.columns))).problems;
}
