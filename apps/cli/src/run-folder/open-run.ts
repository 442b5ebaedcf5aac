/**
 * In: a name. Out: a run folder that this process owns, and the step at which it goes on.
 * A new folder appears only when everything that can be refused has been looked at.
 */
import { existsSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { messageOf, workFailed, wrongUse } from "../person-error.ts";
import { recoverMetrics, type MetricsLine } from "./metrics-file.ts";
import { runFolderAt, type RunFolder } from "./run-folder.ts";
import { lockRun } from "./run-lock.ts";
import { readRunRecord, type RunRecord } from "./run-record.ts";

/** Makes the folder; throws when it is there already, or cannot be made. */
export function createRun(
  out: string,
  id: string,
): { readonly folder: RunFolder; readonly lock: Disposable } {
  const folder = runFolderAt(join(out, id), id);
  try {
    mkdirSync(out, { recursive: true });
    mkdirSync(folder.path);
  } catch (error) {
    throw workFailed(
      `Cannot make ${folder.path}: ${messageOf(error)}; choose another --out`,
      error,
    );
  }
  return { folder, lock: lockRun(folder.path) };
}

export type ResumedRun = {
  readonly folder: RunFolder;
  readonly lock: Disposable;
  readonly record: RunRecord;
  /** Steps that are written whole. */
  readonly done: readonly MetricsLine[];
};

/** `run`: a run folder, or an id of one in `out`. */
export async function resumeRun(run: string, out: string): Promise<ResumedRun> {
  const places = [resolve(run), resolve(out, run)];
  const path = places.find((place) => existsSync(join(place, "run.json")));
  if (path === undefined) {
    throw wrongUse(`There is no run at ${places.join(" or ")}: expected a folder with a run.json`);
  }
  const lock = lockRun(path);
  try {
    const record = await readRunRecord(join(path, "run.json"));
    if (record.redacted) throw wrongUse(`${path} is a redacted copy: it cannot go on`);
    const folder = runFolderAt(path, record.run_id);
    return { folder, lock, record, done: recoverMetrics(folder.metrics) };
  } catch (error) {
    lock[Symbol.dispose]();
    throw error;
  }
}
