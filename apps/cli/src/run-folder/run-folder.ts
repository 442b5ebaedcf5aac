/** Where everything of a run lies. In: a folder. Out: paths. Knows no content. */
import { join } from "node:path";

export type RunFolder = {
  readonly id: string;
  readonly path: string;
  readonly record: string;
  readonly metrics: string;
};

export type StepFolder = {
  readonly path: string;
  readonly events: string;
  readonly datums: string;
  readonly trajectories: string;
  readonly ledger: string;
};

export function runFolderAt(path: string, id: string): RunFolder {
  return { id, path, record: join(path, "run.json"), metrics: join(path, "metrics.jsonl") };
}

/** `step-000000`: steps count from 0 in names of folders. */
export function stepFolderOf(run: RunFolder, step: number): StepFolder {
  const path = join(run.path, `step-${String(step).padStart(6, "0")}`);
  return {
    path,
    events: join(path, "events.jsonl"),
    datums: join(path, "datums.arrow"),
    trajectories: join(path, "trajectories.arrow"),
    ledger: join(path, "ledger.json"),
  };
}

/** Sorts by time, and two runs of one second differ: `20260131-142530-7f3a`. */
export function newRunId(now: Date, random: () => number): string {
  const [day, time] = now.toISOString().slice(0, 19).split("T") as [string, string];
  const tail = Math.floor(random() * 0x1_0000).toString(16);
  return `${day.replaceAll("-", "")}-${time.replaceAll(":", "")}-${tail.padStart(4, "0")}`;
}
