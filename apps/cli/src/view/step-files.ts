/** A step's files, opened. In: a step folder. Out: rows one at a time, datums by trajectory: columns stay views of the files. */
import { ledgerFromJson, type Ledger } from "@interlace/core";
import {
  readDatums,
  readTrajectories,
  type DatumRow,
  type TableMetadata,
  type TrajectoryRow,
} from "@interlace/train-bridge";
import { messageOf, workFailed } from "../person-error.ts";
import type { StepFolder } from "../run-folder/run-folder.ts";

export type StepFiles = {
  readonly metadata: TableMetadata;
  /** In the order of the file; read again each time. */
  readonly rows: Iterable<TrajectoryRow>;
  /** null = the trajectory has none. */
  readonly datumOf: (row: TrajectoryRow) => DatumRow | null;
  /** null = it cannot be read. */
  readonly ledger: Ledger | null;
};

export async function openStepFiles(files: StepFolder): Promise<StepFiles> {
  const { metadata, rows } = openOr(files.trajectories, () => readTrajectories(files.trajectories));
  const { microBatches } = openOr(files.datums, () => readDatums(files.datums));
  const name = (row: { readonly questionIndex: number; readonly groupIndex: number }): string =>
    `${row.questionIndex}/${row.groupIndex}`;
  const datums = new Map(microBatches.flatMap((batch) => batch.map((row) => [name(row), row])));
  return {
    metadata,
    rows: {
      *[Symbol.iterator]() {
        try {
          yield* rows;
        } catch (error) {
          throw unreadable(files.trajectories, error);
        }
      },
    },
    datumOf: (row) => datums.get(name(row)) ?? null,
    ledger: await readLedger(files.ledger),
  };
}

function openOr<T>(path: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): Error {
  return workFailed(`Cannot read ${path}: ${messageOf(error)}; interlace verify says more`, error);
}

async function readLedger(path: string): Promise<Ledger | null> {
  try {
    return ledgerFromJson(await Bun.file(path).json());
  } catch {
    return null;
  }
}
