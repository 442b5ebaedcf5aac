/**
 * Where a training run keeps its weights. `{run}-step-{n}-state` to go on from, `{run}-step-{n}-weights` to sample
 * with; n counts from 1, as people do. In: a run folder. Out: paths, and the last state to resume from.
 */
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { RunFolder } from "../run-folder/run-folder.ts";

export type Checkpoints = {
  readonly folder: string;
  /** `steps`: training steps done; null = the final one. */
  readonly state: (steps: number | null) => string;
  readonly weights: (steps: number | null) => string;
  /** Kept by its score on held-out problems. */
  readonly best: string;
  /** What the sampler loads before step `step`; only the newest two are kept. */
  readonly current: (step: number) => string;
  readonly dropCurrentBefore: (step: number) => void;
  /** The last state of at most `steps` steps. */
  readonly lastState: (steps: number) => { readonly path: string; readonly steps: number } | null;
};

export function checkpointsOf(run: RunFolder, name: string): Checkpoints {
  const folder = join(run.path, "checkpoints");
  const at = (steps: number | null, kind: string) =>
    join(folder, `${name}-${steps === null ? "final" : `step-${steps}`}-${kind}`);
  const current = (step: number) =>
    join(run.path, "weights", `step-${String(step).padStart(6, "0")}`);
  return {
    folder,
    state: (steps) => at(steps, "state"),
    weights: (steps) => at(steps, "weights"),
    best: join(folder, `${name}-best-weights`),
    current,
    dropCurrentBefore(step) {
      // A request in flight may still read the last one.
      for (let old = step - 2; old >= 0 && existsSync(current(old)); old--) {
        rmSync(current(old), { recursive: true, force: true });
      }
    },
    lastState(steps) {
      if (!existsSync(folder)) return null;
      const found = readdirSync(folder)
        .map((entry) =>
          entry.startsWith(`${name}-step-`) ? /-step-(\d+)-state$/.exec(entry)?.[1] : undefined,
        )
        .filter((digits) => digits !== undefined)
        .map(Number)
        .filter((n) => n <= steps);
      if (found.length === 0) return null;
      const last = Math.max(...found);
      return { path: at(last, "state"), steps: last };
    },
  };
}
