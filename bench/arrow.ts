/**
 * What it costs to write a step's datums, beside pyarrow and beside `write(2)` of the same bytes; and whether the
 * learner reads them without copying.
 *
 *   bun run bench arrow [--quick] [--check] [--rounds N]
 *
 * Method: one step put together in memory, 20 million tokens in 4,096 trajectories; the three writers take turns,
 * each with its fsync; CPU time, medians. Interlace also makes the shifted columns, which pyarrow is given ready.
 */
import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import {
  append,
  prepareStep,
  sampledSegment,
  segment,
  tokensOf,
  type GradedMember,
  type Group,
  type StepDatums,
  type Turn,
} from "../packages/core/src/index.ts";
import { ensurePythonEnv } from "../packages/graders/src/python-env/ensure-python-env.ts";
import { writeDatums, type StepContext } from "../packages/train-bridge/src/index.ts";
import { cpuMs } from "./engine/usage.ts";

const { values: flags } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    check: { type: "boolean", default: false },
    rounds: { type: "string" },
  },
});
const rounds = Number(flags.rounds ?? (flags.quick ? 3 : 5));
const TRAJECTORIES = 4096;
const GROUP_SIZE = 8;
const LENGTH = flags.quick ? 1250 : 5000;
const TURN = Math.floor(LENGTH / 10);

/** One trajectory in ten segments, sampled and observed by turns, each with memory of its own. */
function memberOf(index: number, question: number): GradedMember {
  const ids = (at: number): Int32Array =>
    Int32Array.from(
      { length: TURN },
      (_, i) => (question * 7919 + index * 104_729 + at * 31 + i * 17) % 151_000,
    );
  let tokens = tokensOf(ids(0));
  const turns: Turn[] = [];
  for (let at = 1; at < 10; at++) {
    if (at % 2 === 0) tokens = append(tokens, segment("observed", ids(at)));
    else {
      const turn = {
        promptLength: tokens.length,
        length: TURN,
        finish: "stop",
        seed: 0,
        versions: [],
      } as const;
      turns.push({
        ...turn,
        parsed: "tool",
        invalidCause: null,
        opensCall: true,
        textMismatch: false,
      });
      tokens = append(tokens, sampledSegment(ids(at), new Float32Array(TURN).fill(-0.25)));
    }
  }
  const grade =
    index % 2 === 0
      ? ({ kind: "equal", answer: "42", by: "bench" } as const)
      : ({ kind: "different", answer: "41", by: "bench" } as const);
  return {
    index,
    tokens,
    turns,
    toolCalls: [],
    codeCalls: 4,
    failure: null,
    phase: { type: "graded", termination: "answer", grade },
  };
}

function makeStep(trajectories: number): StepDatums {
  const groups = Array.from({ length: trajectories / GROUP_SIZE }, (_, question): Group => ({
    question,
    problem: { id: `p${question}`, question: "q", answer: "42", dataSource: "bench" },
    members: Array.from({ length: GROUP_SIZE }, (__, index) => memberOf(index, question)),
  }));
  return prepareStep(groups, {
    maxContextTokens: 16_384,
    packing: { maxItems: 32, maxPaddedTokens: 1_000_000 },
  });
}

const context: StepContext = {
  runId: "bench",
  step: 0,
  sampler: "bench",
  model: "bench",
  facts: {
    groupSize: GROUP_SIZE,
    temperature: 1,
    topP: 1,
    topK: null,
    logprobKind: "raw",
    tokenizerId: "bench",
    tokenizerHash: "",
    vocabSize: 151_936,
    maxContextTokens: 16_384,
    seed: 42,
    seedScheme: "hashed",
    configHash: "",
    advantageEstimator: "group_centred",
    systemPromptHash: "",
    toolHash: "",
    chatTemplateHash: "",
  },
};

/** A megabyte a call. */
function writePlainly(path: string, bytes: Uint8Array): void {
  const fd = openSync(path, "w");
  for (let at = 0; at < bytes.length;) {
    at += writeSync(fd, bytes, at, Math.min(1 << 20, bytes.length - at));
  }
  fsyncSync(fd);
  closeSync(fd);
}

type Told = { readonly cpuMs: number; readonly bytes?: number; readonly copiedBytes?: number };

async function runPython(
  python: string,
  mode: "write" | "read" | "copy",
  source: string,
  out: string,
): Promise<Told> {
  const script = join(import.meta.dir, "arrow/arrow_bench.py");
  const child = Bun.spawn([python, "-B", script, mode, source, out], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const [text, code] = await Promise.all([child.stdout.text(), child.exited]);
  if (code !== 0) throw new Error(`Expected arrow_bench.py ${mode} to end well, exit code ${code}`);
  return JSON.parse(text) as Told;
}

async function timed(work: () => unknown): Promise<number> {
  Bun.gc(true);
  const before = cpuMs();
  await work();
  return cpuMs() - before;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? Number.NaN;

const env = await ensurePythonEnv({
  folder: join(import.meta.dir, "..", ".interlace"),
  name: "bench-arrow",
  requirements: await Bun.file(new URL("arrow/requirements.txt", import.meta.url)).text(),
  tell: (line) => console.error(line),
});
if (!env.ok) throw new Error(`No pyarrow to compare with: ${env.detail}`);
const folder = mkdtempSync(join(tmpdir(), "interlace-bench-arrow-"));
try {
  const [ours, theirs, plain] = ["ours.arrow", "pyarrow.arrow", "plain.bin"].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  await writeDatums(ours, makeStep(64), context);
  const step = makeStep(TRAJECTORIES);
  const tokens = step.datums.reduce((sum, { member }) => sum + member.tokens.length, 0);
  const times = {
    ours: [] as number[],
    pyarrow: [] as number[],
    write: [] as number[],
    read: [] as number[],
    copy: [] as number[],
  };
  let size = 0;
  let copied = 0;
  for (let round = 0; round < rounds; round++) {
    times.ours.push(
      await timed(async () => {
        size = await writeDatums(ours, step, context);
      }),
    );
    const bytes = await Bun.file(ours).bytes();
    times.write.push(await timed(() => writePlainly(plain, bytes)));
    times.pyarrow.push((await runPython(env.python, "write", ours, theirs)).cpuMs);
    const read = await runPython(env.python, "read", ours, theirs);
    times.read.push(read.cpuMs);
    copied = read.copiedBytes ?? Number.NaN;
    times.copy.push((await runPython(env.python, "copy", ours, theirs)).cpuMs);
  }
  const [write, pyarrow, read, copy] = [times.write, times.pyarrow, times.read, times.copy].map(
    median,
  ) as [number, number, number, number];
  const own = median(times.ours);
  console.log(
    `load ${loadavg()
      .map((l) => l.toFixed(1))
      .join(
        " ",
      )}; ${(tokens / 1e6).toFixed(1)} M tokens, ${(size / 1e6).toFixed(0)} MB; CPU ms, medians of ${rounds} interleaved rounds`,
  );
  console.log(
    `Interlace ${own.toFixed(0)}, pyarrow ${pyarrow.toFixed(0)}, write(2) ${write.toFixed(0)}; the learner reads and checks in ${read.toFixed(1)}, memcpy of its columns takes ${copy.toFixed(1)}, ${copied} bytes were copied`,
  );
  const verdicts = [
    ["÷ pyarrow", own / pyarrow, 1.1],
    ["÷ write(2)", own / write, 1.2],
    ["bytes that the learner copied", copied, 0],
  ] as const;
  for (const [goal, seen, limit] of verdicts) {
    console.log(
      `${seen <= limit ? "met   " : "MISSED"}  ${goal} ${seen.toFixed(2)}, goal ≤ ${limit}`,
    );
  }
  if (flags.check && verdicts.some(([, seen, limit]) => !(seen <= limit))) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
