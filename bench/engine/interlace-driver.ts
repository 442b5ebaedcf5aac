/**
 * Interlace as a user has it: adapter, checks, retries, limits, real tokenizer and template, grader, event log on
 * disk, Arrow files. `bun bench/engine/interlace-driver.ts URL FOLDER CELL_JSON`; only the tool is a stub.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openFileEventLog } from "../../apps/cli/src/event-log/file-event-log.ts";
import {
  boxedGrader,
  buildLedger,
  captured,
  checkLedger,
  collect,
  nativeJudge,
  prepareStep,
  SCHEDULES,
  type ExecResult,
  type Group,
  type Plan,
  type Ports,
  type Sandbox,
} from "../../packages/core/src/index.ts";
import { createSampler } from "../../packages/sampler-clients/src/index.ts";
import {
  writeDatums,
  writeTrajectories,
  type StepContext,
} from "../../packages/train-bridge/src/index.ts";
import { openLanguage } from "./language.ts";
import { cpuMs, report, residentBytes } from "./usage.ts";
import { groupsOf, rolloutConfig, TURNS, turnsOf, type Cell } from "./workload.ts";

const [url = "", folder = "", json = "{}"] = process.argv.slice(2);
const cell = JSON.parse(json) as Cell;
const language = await openLanguage();
const { protocol, tokenizer } = language;
const config = rolloutConfig(cell.shape);
const never = new AbortController().signal;

const client = await createSampler(
  { kind: cell.wire === "sglang" ? "sglang" : "vllm", urls: [url], maxInFlight: cell.live },
  {
    tokenizer: {
      vocabSize: tokenizer.vocabSize,
      encode: (text) => tokenizer.encode(text),
      decode: (ids) => protocol.decodeTurn(ids),
    },
    sampling: config,
    maxTrajectoryTokens: config.maxTrajectoryTokens,
    maxAssistantTokens: config.maxAssistantTokens,
  },
  never,
);
if (!client.ok) throw new Error(JSON.stringify(client));

const result: ExecResult = {
  ok: true,
  status: "ok",
  exitCode: 0,
  signal: null,
  limit: null,
  stdout: captured(language.printed(cell.observation)),
  stderr: captured(""),
  usage: { queuedSeconds: 0, wallSeconds: 0, cpuSeconds: 0, peakMemoryBytes: 0 },
};
const sandbox: Sandbox = {
  isolation: () => ({ backend: "stub", level: "none", lines: [] }),
  run: () => Promise.resolve(result),
};
const grader = boxedGrader([nativeJudge]);

type Batch = {
  readonly groups: readonly Group[];
  readonly wallMs: number;
  readonly exportMs: number;
};

async function runBatch(sampler: Ports["sampler"], step: number): Promise<Batch> {
  const place = join(folder, `step-${step}`);
  mkdirSync(place, { recursive: true });
  const plan: Plan = { config, protocol, step };
  const problems = Array.from({ length: groupsOf(cell, step) }, (_, question) =>
    language.problem(cell.shape, question),
  );
  const now = (): number => performance.timeOrigin + performance.now();
  await using log = openFileEventLog(join(place, "events.jsonl"), { from: null, now });
  log.mark({ type: "opened", run_id: "bench", step, config_hash: "bench" });
  const began = performance.now();
  const batch = await collect(
    plan,
    problems,
    { sampler, sandbox, grader, log },
    {
      schedule: SCHEDULES[cell.schedule],
      vocabSize: tokenizer.vocabSize,
      onCommand: log.issued.bind(log),
    },
  );
  const wallMs = performance.now() - began;
  expectWhole(batch.groups, batch.failures);
  log.mark({ type: "closed" });
  await log.sync();
  const before = cpuMs();
  await writeStep(place, batch.groups, step, log.times.size);
  return { groups: batch.groups, wallMs, exportMs: cpuMs() - before };
}

/** The benchmark counts only work that was really done. */
function expectWhole(groups: readonly Group[], failures: ReadonlyMap<string, number>): void {
  const short = groups
    .flatMap(({ members }) => members)
    .filter(({ turns }) => turns.length !== TURNS);
  if (failures.size > 0 || short.length > 0) {
    const [first] = short;
    throw new Error(
      `Expected ${TURNS} turns of every trajectory, ${short.length} have not: ${JSON.stringify([[...failures], first?.phase, first?.failure, first?.turns])}`,
    );
  }
}

async function writeStep(
  place: string,
  groups: readonly Group[],
  step: number,
  answers: number,
): Promise<void> {
  const datums = prepareStep(groups, {
    maxContextTokens: config.maxTrajectoryTokens,
    packing: { maxItems: 32, maxPaddedTokens: 64_000 },
  });
  const ledger = buildLedger(datums, { asked: groups.length * config.groupSize, retries: {} });
  const wrong = checkLedger(ledger);
  if (wrong.length > 0 || answers === 0)
    throw new Error(`The ledger does not balance: ${wrong.join("; ")}`);
  const context: StepContext = { runId: "bench", step, sampler: "vllm", model: "bench", facts };
  await writeDatums(join(place, "datums.arrow"), datums, context);
  await writeTrajectories(join(place, "trajectories.arrow"), datums, context, {
    protocol,
    firstMessages: ({ question }) => [{ role: "user", content: question }],
    timeOf: () => null,
  });
}

const facts: StepContext["facts"] = {
  groupSize: config.groupSize,
  temperature: config.temperature,
  topP: config.topP,
  topK: config.topK,
  logprobKind: client.identity.logprobKind,
  tokenizerId: "qwen2.5",
  tokenizerHash: "",
  vocabSize: tokenizer.vocabSize,
  maxContextTokens: config.maxTrajectoryTokens,
  seed: config.seed,
  seedScheme: config.seedScheme,
  configHash: "",
  advantageEstimator: "group_centred",
  systemPromptHash: "",
  toolHash: "",
  chatTemplateHash: "",
};

await runBatch(client.sampler, 0);
let used = 0;
let exported = 0;
let grownBytes = 0;
let liveTokens = 0;
const wallMs: number[] = [];
for (let step = 1; step <= cell.batches; step++) {
  const resident = residentBytes("before");
  const before = cpuMs();
  const batch = await runBatch(client.sampler, step);
  used += cpuMs() - before;
  exported += batch.exportMs;
  wallMs.push(batch.wallMs);
  grownBytes = residentBytes("after") - resident;
  liveTokens = batch.groups
    .flatMap(({ members }) => members)
    .reduce((sum, { tokens }) => sum + tokens.length, 0);
}
await client[Symbol.asyncDispose]();
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
