/**
 * The run that is measured, started as `interlace rollout` starts one: settings, data, tokenizer, handshake, a run
 * folder with its record. In: a cell and where things lie. Out: a started run. Only the sandbox is a stub.
 */
import { toSnake } from "../../apps/cli/src/config/names.ts";
import { openGrader } from "../../apps/cli/src/rollout/open-grader.ts";
import type { openPorts } from "../../apps/cli/src/rollout/open-ports.ts";
import { openSampler } from "../../apps/cli/src/rollout/open-sampler.ts";
import { startRun, type StartedRun } from "../../apps/cli/src/rollout/start-run.ts";
import { createTerminal } from "../../apps/cli/src/terminal/terminal.ts";
import type { OwnedSandbox } from "../../packages/sandbox/src/create-sandbox.ts";
import { NO_STATISTICS } from "../../packages/sandbox/src/statistics.ts";
import { MODEL_FOLDER } from "../support/qwen.ts";
import { ranPrinting } from "../support/stub-tool.ts";
import { printed } from "./language.ts";
import { groupsOf, rolloutConfig, SHAPES, type Cell } from "./workload.ts";

export type BenchPlace = {
  readonly url: string;
  /** Holds the run folder. */
  readonly out: string;
  readonly problems: string;
};

const NOWHERE = { write: () => {}, isTTY: false, columns: 100 };
/** What a user would read is made, and goes nowhere. */
export const SILENT = createTerminal(NOWHERE, NOWHERE, {});

/** `onRetries`: a step asks how often was retried when its log is closed, right before its files are written. */
export async function startBenchRun(
  cell: Cell,
  place: BenchPlace,
  onRetries: () => void,
  stack: AsyncDisposableStack,
): Promise<StartedRun> {
  const surroundings = { openPorts: portsOf(stubSandbox(cell), onRetries) };
  const options = { command: "rollout", settings: settingsOf(cell, place), surroundings } as const;
  // No variable of whoever measures decides anything.
  const started = await startRun({ terminal: SILENT, env: {} }, {}, options, stack);
  if (started === null) throw new Error("Expected a run, only settings were shown");
  const { data, language } = started.run;
  const seen = language.protocol.firstPrompt(data.problems[0]?.question ?? "").length;
  const expected = SHAPES[cell.shape].first;
  if (seen !== expected) {
    throw new Error(`Expected a first prompt of ${expected} tokens, as others send, got ${seen}`);
  }
  return started;
}

function settingsOf(cell: Cell, { url, out, problems }: BenchPlace) {
  const settings = {
    "run.out": out,
    "run.steps": cell.batches,
    "run.schedule": cell.schedule,
    "data.path": problems,
    "data.questions_per_batch": groupsOf(cell, 1),
    "sampler.kind": cell.wire === "sglang" ? "sglang" : "vllm",
    "sampler.url": url,
    "sampler.tokenizer": MODEL_FOLDER,
    "sampler.max_in_flight": cell.live,
    "grading.grader": "native",
  };
  const rollout = Object.entries(rolloutConfig(cell.shape)).map(
    ([name, value]) => [`rollout.${toSnake(name)}`, value] as const,
  );
  return [...Object.entries(settings), ...rollout].map(
    ([name, value]) => [name, "the benchmark", String(value)] as const,
  );
}

function portsOf(sandbox: OwnedSandbox, onRetries: () => void): typeof openPorts {
  return async (config, language, source, signal, tell) => {
    const { sampler, ...opened } = await openSampler(config, language, source, signal);
    const { grader } = openGrader(config, tell, sandbox);
    return {
      ...opened,
      sampler,
      identity: await sampler.identity(),
      sandbox,
      grader,
      retries() {
        onRetries();
        return { sampler: opened.retries(), sandbox: 0 };
      },
    };
  };
}

function stubSandbox(cell: Cell): OwnedSandbox {
  const result = ranPrinting(printed(cell.observation));
  return {
    isolation: () => ({ backend: "stub", level: "none", lines: [] }),
    run: () => Promise.resolve(result),
    statistics: () => NO_STATISTICS,
    load: () => ({ waiting: 0, running: 0 }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
