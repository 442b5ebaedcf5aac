/**
 * A run's metrics to a tracker, through its own library in a Python process beside the run. In: the resolved
 * configuration, then metrics lines. Out: nothing; a tracker out of reach is told once and never stops the training.
 */
import { messageOf } from "../person-error.ts";
import type { PreparedRun } from "../rollout/prepare-run.ts";
import type { MetricsLine } from "../run-folder/metrics-file.ts";
import type { RunFolder } from "../run-folder/run-folder.ts";
import { startLearner, type LearnerCommand } from "./learner-process.ts";

export type Tracker = {
  readonly log: (line: MetricsLine) => void;
  /** Resolves when all that was logged is handed over and the tracker's run is closed. */
  readonly close: (failed: boolean) => Promise<void>;
};

const NO_TRACKER: Tracker = { log() {}, close: () => Promise.resolve() };

/** Throws a PersonError when the tracker cannot be opened: before anything is trained. */
export async function openTracker(
  command: LearnerCommand,
  { config, record }: Pick<PreparedRun, "config" | "record">,
  folder: RunFolder,
  tell: (line: string) => void,
): Promise<Tracker> {
  const { kind, project, mode } = config.tracker;
  // metrics.jsonl is written by every run.
  if (kind === "jsonl" || mode === "disabled") return NO_TRACKER;
  const process = startLearner(command, {
    module: "interlace_learner.track",
    name: "tracker",
    advice: "the run goes on, its metrics are in metrics.jsonl",
  });
  const facts = { kind, project, run: folder.id, mode, folder: folder.path };
  try {
    await process.ask({ type: "open", ...facts, config: record.config }, "opened");
  } catch (error) {
    await process[Symbol.asyncDispose]();
    throw error;
  }

  let isLost = false;
  let last: Promise<void> = Promise.resolve();
  function send(request: Readonly<Record<string, unknown>>, expected: string): void {
    const asked = process.ask(request, expected).then(
      () => undefined,
      (error: unknown) => {
        if (!isLost) tell(messageOf(error));
        isLost = true;
      },
    );
    last = last.then(() => asked);
  }
  return {
    log({ step, ...metrics }) {
      send({ type: "log", step, metrics }, "logged");
    },
    async close(failed) {
      send({ type: "close", failed }, "closed");
      await last;
      await process[Symbol.asyncDispose]();
    },
  };
}
