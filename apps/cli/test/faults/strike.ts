/** One batch with injected faults and the same without, and what an independent reader finds of both. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rolloutWork } from "../../src/rollout/rollout-work.ts";
import { createTerminal } from "../../src/terminal/terminal.ts";
import { askPythonFile, onlyRun } from "../support/cli.ts";
import { scriptedPorts, type Faults } from "../support/scripted-ports.ts";
import { injectFaults } from "./inject.ts";

export type Struck = {
  readonly wrong: readonly string[];
  readonly trajectories: number;
  readonly hit: Readonly<Record<string, number>>;
  readonly sampled_tokens: number;
  readonly exported: number;
  readonly exported_tokens: number;
  readonly dropped: Readonly<Record<string, number>>;
};

export type Strike = {
  readonly folder: string;
  readonly problems: number;
  readonly groupSize: number;
  readonly seed: number;
  /** Of each kind. */
  readonly rate: number;
};

export async function strike({ folder, rate, ...size }: Strike): Promise<Struck> {
  const injection = injectFaults(size.seed, rate);
  const struck = await rollOut(join(folder, "struck"), size, injection.faults);
  const quiet = await rollOut(join(folder, "quiet"), size);
  const hit = join(folder, "hit.json");
  writeFileSync(hit, JSON.stringify(Object.fromEntries(injection.hit)));
  const script = join(import.meta.dir, "check_step.py");
  return (await askPythonFile(script, [struck, quiet, hit])) as Struck;
}

async function rollOut(
  out: string,
  { problems, groupSize, seed }: Pick<Strike, "problems" | "groupSize" | "seed">,
  faults?: Faults,
): Promise<string> {
  mkdirSync(out, { recursive: true });
  const silent = { write: () => {}, isTTY: false, columns: 100 };
  const ports = scriptedPorts({
    seed,
    atOnce: 512,
    slowMs: 0,
    ...(faults === undefined ? {} : { faults }),
  });
  const code = await rolloutWork(
    { terminal: createTerminal(silent, silent, {}), env: {} },
    { out, seed: String(seed), problems: String(problems), groupSize: String(groupSize) },
    { openPorts: ports },
  );
  if (code !== 0)
    throw new Error(`Expected a complete batch in ${out}, rollout ended with ${code}`);
  return join(onlyRun(out), "step-000000");
}
