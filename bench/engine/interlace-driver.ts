/**
 * Interlace as a user has it: the steps of a run of `interlace rollout`, with everything that belongs to one – adapter,
 * checks, retries, limits, protocol, grader, event log with its fsync, Arrow files, ledger, metrics, summary.
 * `bun bench/engine/interlace-driver.ts URL FOLDER CELL_JSON PROBLEMS`; only the tool is a stub. FOLDER/runs holds the run.
 */
import { join } from "node:path";
import { reportStep } from "../../apps/cli/src/rollout/report.ts";
import { rollOutStep, type StepResult } from "../../apps/cli/src/rollout/roll-out-step.ts";
import type { PreparedRun } from "../../apps/cli/src/rollout/prepare-run.ts";
import { runFolderAt, type RunFolder } from "../../apps/cli/src/run-folder/run-folder.ts";
import { SILENT, startBenchRun } from "./bench-run.ts";
import { cpuMs, report, residentBytes } from "./usage.ts";
import {
  GROUP_SIZE,
  groupsOf,
  TURNS,
  turnsOf,
  WARM_UP_SEED,
  warmUpsOf,
  type Cell,
} from "./workload.ts";

const [url = "", folder = "", json = "{}", problems = ""] = process.argv.slice(2);
const cell = JSON.parse(json) as Cell;
await using stack = new AsyncDisposableStack();
let beforeFiles = 0;
const place = { url, out: join(folder, "runs"), problems };
const started = await startBenchRun(cell, place, () => (beforeFiles = cpuMs()), stack);

type Batch = Extract<StepResult, { end: "complete" }> & {
  /** Milliseconds since 1970. */
  readonly began: number;
  readonly exportMs: number;
};

async function runBatch(run: PreparedRun, of: RunFolder, step: number): Promise<Batch> {
  const began = performance.timeOrigin + performance.now();
  let exportMs = 0;
  const result = await rollOutStep({
    ...started,
    run,
    folder: of,
    step,
    retryFailed: false,
    terminal: SILENT,
    finish() {
      exportMs = cpuMs() - beforeFiles;
      return Promise.resolve({});
    },
  });
  if (result.end !== "complete") {
    throw new Error(`The batch has ${result.end}: ${JSON.stringify([...result.batch.failures])}`);
  }
  reportStep(run, { step, ...result }, false, SILENT);
  return { ...result, began, exportMs };
}

/** The benchmark counts only work that was really done. */
function expectWhole({ datums: { trajectories } }: Batch, step: number): void {
  const expected = groupsOf(cell, step) * GROUP_SIZE;
  if (trajectories.length !== expected) {
    throw new Error(`Expected ${expected} trajectories, got ${trajectories.length}`);
  }
  const short = trajectories.filter(
    ({ member: { turns, failure } }) => turns.length !== TURNS || failure !== null,
  );
  const [first] = short;
  if (first === undefined) return;
  const { phase, failure, turns } = first.member;
  throw new Error(
    `Expected ${TURNS} turns of every trajectory, ${short.length} have not: ${JSON.stringify([phase, failure, turns])}`,
  );
}

/** From the beginning to the last answer taken in. */
function wallOf({ began, times }: Batch): number {
  let last = began;
  for (const { ended } of times.values()) last = Math.max(last, ended);
  return last - began;
}

/** A run of its own, of which only the process learns; its batch is never larger than those that are measured. */
function warmUp({ config, ...run }: PreparedRun): PreparedRun {
  const data = { ...config.data, questionsPerBatch: groupsOf(cell, 0) };
  const rollout = { ...config.rollout, seed: WARM_UP_SEED };
  return { ...run, config: { ...config, data, rollout } };
}

for (let i = 0; i < warmUpsOf(cell); i++) {
  const aside = runFolderAt(join(folder, `warm-up-${i}`), "warm-up");
  expectWhole(await runBatch(warmUp(started.run), aside, 0), 0);
}
let used = 0;
let exported = 0;
let grownBytes = 0;
let liveTokens = 0;
const wallMs: number[] = [];
for (let step = 0; step < cell.batches; step++) {
  const resident = residentBytes("before");
  const before = cpuMs();
  const batch = await runBatch(started.run, started.folder, step);
  used += cpuMs() - before;
  grownBytes = residentBytes("after") - resident;
  // Step 0 of the benchmark is the warm-up.
  expectWhole(batch, step + 1);
  exported += batch.exportMs;
  wallMs.push(wallOf(batch));
  liveTokens = batch.datums.trajectories.reduce((sum, { member }) => sum + member.tokens.length, 0);
}
report({
  driver: "interlace",
  turns: turnsOf(cell, 1) * cell.batches,
  cpuMs: used,
  wallMs,
  grownBytes,
  liveTokens,
  version: `Bun ${Bun.version}`,
  parts: { arrow: exported },
});
