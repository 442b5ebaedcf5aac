/**
 * What a turn costs the engine by how many trajectories are live at once, in one process.
 *
 *   bun bench/live.ts [ROUNDS=5]
 *
 * Method: the whole loop – `rollout()` with scripted ports that answer at once, so that all time is the engine's –
 * over a language of one id per character, where nothing but the loop costs anything, and over a real one. Every
 * trajectory makes four turns, three of them tool calls. All requests of a wave are answered together, so that all
 * trajectories are live. Sizes take turns within each round, small ones repeated until they have as many turns as the
 * largest; medians of processor time per turn are compared, not times.
 */
import { loadavg } from "node:os";
import {
  rollout,
  rolloutConfigSchema,
  SCHEDULES,
  type Plan,
  type Ports,
  type Protocol,
  type SampleRequest,
  type ScheduleName,
  type Sequence,
} from "../packages/core/src/index.ts";
import { openQwen } from "./support/qwen.ts";
import { ranPrinting } from "./support/stub-tool.ts";
import { said, toyProtocol } from "../packages/core/test/support/toy-protocol.ts";

const SIZES = [64, 256, 1_000, 4_000, 10_000] as const;
const GROUP_SIZE = 8;
const TURNS = 4;
const ROUNDS = Number(process.argv[2] ?? 5);

type Language = { readonly plan: Plan; readonly call: Int32Array; readonly answer: Int32Array };

function languageOf(
  protocol: Protocol,
  call: ArrayLike<number>,
  answer: ArrayLike<number>,
): Language {
  const config = rolloutConfigSchema.parse({
    groupSize: GROUP_SIZE,
    maxCodeCalls: TURNS,
    maxAssistantTurns: TURNS + 1,
  });
  return {
    plan: { config, protocol, step: 0 },
    call: Int32Array.from(call),
    answer: Int32Array.from(answer),
  };
}

async function realLanguage(): Promise<Language> {
  const { tokenizer, protocol } = await openQwen();
  const call =
    "Let me compute.\n<tool_call>\n<function=code_interpreter>\n<parameter=code>\nprint(6*7)\n</parameter>\n</function>\n</tool_call>";
  const encode = (text: string) => tokenizer.encode(`${text}<|im_end|>`);
  return languageOf(protocol, encode(call), encode("So it is 42: \\boxed{42}"));
}

const LANGUAGES: Readonly<Record<string, () => Promise<Language>>> = {
  "one id per character": () =>
    Promise.resolve(languageOf(toyProtocol(), said("run:print(6*7)"), said("It is 42"))),
  "Qwen2.5's tokenizer and template": realLanguage,
};

const printed = ranPrinting("42\n");

/** Answers of one wave are given together, as a server does that is never the bottleneck. */
function createPorts({ call, answer }: Language): {
  readonly ports: Ports;
  readonly most: () => number;
} {
  let wave: (() => void)[] = [];
  let most = 0;
  let live = 0;
  const inWave = <T>(value: T): Promise<T> =>
    new Promise((resolve) => {
      if (wave.length === 0) {
        setImmediate(() => {
          const due = wave;
          wave = [];
          for (const give of due) give();
        });
      }
      wave.push(() => resolve(value));
    });
  const sequence = (request: SampleRequest, i: number): Sequence => {
    const isLast = request.id.endsWith(`t${TURNS - 1}`);
    const ids = isLast ? answer : call;
    return {
      ok: true,
      ids,
      logprobs: new Float32Array(ids.length).fill(-0.5),
      finish: "stop",
      seed: request.seed + i,
      versions: [],
      serverText: null,
    };
  };
  const ports: Ports = {
    sampler: {
      identity: () => Promise.reject(new Error("Never asked by the loop")),
      async sample(request) {
        live += request.samples;
        most = Math.max(most, live);
        await inWave(null);
        live -= request.samples;
        return Array.from({ length: request.samples }, (_, i) => sequence(request, i));
      },
    },
    sandbox: {
      isolation: () => ({ backend: "scripted", level: "none", lines: [] }),
      run: () => inWave(printed),
    },
    grader: {
      grade: (text) => Promise.resolve({ kind: "equal", answer: text, by: "scripted" }),
    },
    log: null,
  };
  return { ports, most: () => most };
}

async function rollOut(language: Language, live: number, schedule: ScheduleName): Promise<number> {
  const problems = Array.from({ length: live / GROUP_SIZE }, (_, i) => ({
    id: String(i),
    question: `What is 6 times 7, asked for the ${i}th time?`,
    answer: "42",
    dataSource: "made",
  }));
  const { ports, most } = createPorts(language);
  let turns = 0;
  for await (const group of rollout(language.plan, problems, ports, {
    schedule: SCHEDULES[schedule],
  })) {
    for (const member of group.members) turns += member.turns.length;
  }
  if (turns !== live * TURNS || most() !== live) {
    throw new Error(`Expected ${live} live and ${live * TURNS} turns, seen ${most()} and ${turns}`);
  }
  return turns;
}

/** Processor time, not the clock's: other programs do not count. Microseconds. */
const sum = ({ user, system }: NodeJS.CpuUsage): number => user + system;

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

const largest = SIZES.at(-1) ?? 0;
async function measure(name: string, language: Language, schedule: ScheduleName): Promise<void> {
  const costs = new Map<number, number[]>(SIZES.map((size) => [size, []]));
  for (let round = -1; round < ROUNDS; round++) {
    for (const size of SIZES) {
      Bun.gc(true);
      const before = process.cpuUsage();
      let turns = 0;
      while (turns < largest * TURNS) turns += await rollOut(language, size, schedule);
      // The first round warms up.
      if (round >= 0) costs.get(size)?.push(sum(process.cpuUsage(before)) / turns);
    }
  }
  const base = median(costs.get(SIZES[0]) ?? []);
  const load = loadavg()
    .map((value) => value.toFixed(2))
    .join(" ");
  console.log(`\n${name}, ${schedule}: ${ROUNDS} interleaved rounds, medians, load ${load}`);
  console.log("live trajectories   CPU µs per turn   ÷ fewest");
  for (const [size, all] of costs) {
    const value = median(all);
    console.log(
      [
        String(size).padStart(17),
        value.toFixed(1).padStart(17),
        (value / base).toFixed(2).padStart(10),
      ].join(" "),
    );
  }
}

for (const [name, open] of Object.entries(LANGUAGES)) {
  const language = await open();
  for (const schedule of ["continuous", "rounds"] as const) await measure(name, language, schedule);
}
