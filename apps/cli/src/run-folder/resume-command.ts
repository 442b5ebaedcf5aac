/** How a person goes on with a run: the command as it would be typed. */
import type { Config } from "../config/schema.ts";
import type { ResumedRun } from "./open-run.ts";
import type { RunFolder } from "./run-folder.ts";
import type { RunCommand } from "./run-record.ts";

export type Resumable = {
  readonly command: RunCommand;
  readonly folder: RunFolder;
  readonly config: Config;
  /** As the run was found; null = it began in this process. */
  readonly resumed: ResumedRun | null;
};

/** The record keeps the number of steps that the run began with: one that it was given later must be said again. */
export function resumeCommand({ command, folder, config, resumed }: Resumable): string {
  const [name, steps] =
    command === "train"
      ? ["train.max_steps", config.train.maxSteps]
      : ["run.steps", config.run.steps];
  const isOther = resumed !== null && resumed.record.config[name] !== steps;
  return `bun run ${command} --resume ${folder.path}${isOther ? ` --steps ${steps}` : ""}`;
}
