/**
 * In: a step's complete groups. Out: `datums.arrow`, `trajectories.arrow`, `ledger.json`, each whole or not there.
 * Computes nothing that the event log does not hold: written twice, the files are the same.
 */
import {
  buildLedger,
  checkLedger,
  ledgerToJson,
  measureStep,
  prepareStep,
  type Group,
  type Ledger,
  type Metrics,
  type StepDatums,
} from "@interlace/core";
import {
  writeDatums,
  writeJson,
  writeTrajectories,
  type StepContext,
  type TrajectoryOptions,
} from "@interlace/train-bridge";
import type { Config } from "../config/schema.ts";
import type { AnswerTimes } from "../event-log/file-event-log.ts";
import { answerName } from "../event-log/log-line.ts";
import { messageOf, workFailed } from "../person-error.ts";
import { stepOptions } from "./step-options.ts";
import type { StepFolder } from "../run-folder/run-folder.ts";

export type ExportInput = {
  readonly config: Config;
  readonly groups: readonly Group[];
  readonly context: StepContext;
  readonly trajectories: Pick<TrajectoryOptions, "protocol" | "firstMessages">;
  readonly times: ReadonlyMap<string, AnswerTimes>;
  readonly retries: Readonly<Record<string, number>>;
};

export type ExportedStep = {
  readonly datums: StepDatums;
  readonly metrics: Metrics;
  readonly ledger: Ledger;
};

export async function exportStep(folder: StepFolder, input: ExportInput): Promise<ExportedStep> {
  const { config, groups, context, times } = input;
  const { rollout } = config;
  const step = prepareStep(groups, stepOptions(config, context.facts.maxContextTokens));
  const ledger = buildLedger(step, {
    asked: groups.length * rollout.groupSize,
    retries: input.retries,
  });
  const wrong = checkLedger(ledger);
  if (wrong.length > 0) throw new Error(`The ledger does not balance: ${wrong.join("; ")}`);
  const timeOf: TrajectoryOptions["timeOf"] = (question, group, turn) => {
    const key = { step: context.step, question, group: turn === 0 ? null : group, turn };
    const time = times.get(answerName({ type: "sampled", key }));
    return time === undefined ? null : { start: time.started, end: time.ended };
  };
  try {
    await writeDatums(folder.datums, step, context);
    await writeTrajectories(folder.trajectories, step, context, { ...input.trajectories, timeOf });
    await writeJson(folder.ledger, ledgerToJson(ledger), 2);
  } catch (error) {
    throw workFailed(messageOf(error), error);
  }
  return { datums: step, metrics: measureStep(step), ledger };
}
