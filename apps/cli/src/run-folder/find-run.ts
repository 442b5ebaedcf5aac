/** In: a run's name as a person gives it. Out: its folder and record, unlocked: for commands that only read. */
import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { wrongUse } from "../person-error.ts";
import { runFolderAt, type RunFolder } from "./run-folder.ts";
import { readRunRecord, type RunRecord } from "./run-record.ts";

export type FoundRun = { readonly folder: RunFolder; readonly record: RunRecord };

/** `run`: a run folder, or an id of one in `out`. */
export async function findRun(run: string, out: string): Promise<FoundRun> {
  const path = findRunPath(run, out);
  if (path === null) {
    const places = [resolve(run), resolve(out, run)];
    throw wrongUse(`There is no run at ${places.join(" or ")}: expected a folder with a run.json`);
  }
  const record = await readRunRecord(join(path, "run.json"));
  return { folder: runFolderAt(path, record.run_id), record };
}

export function findRunPath(run: string, out: string): string | null {
  const places = [resolve(run), resolve(out, run)];
  return places.find((place) => existsSync(join(place, "run.json"))) ?? null;
}

/** Steps that have a folder, in order. */
export function listSteps({ path }: RunFolder): readonly number[] {
  return readdirSync(path)
    .map((name) => /^step-(\d{6,})$/.exec(name)?.[1])
    .filter((digits) => digits !== undefined)
    .map(Number)
    .toSorted((a, b) => a - b);
}
