/**
 * A whole world by script, for the real `rollout` command: sampler, sandbox and grader whose every answer depends on
 * the request alone, over the language of the policy in the box. In: a seed, how slow answers are, and what goes
 * wrong. Out: opened ports. Tells of everything that was asked.
 */
import {
  boxedGrader,
  captured,
  formatKey,
  type ExecResult,
  type Failure,
  type Grade,
  type Key,
  type SampleRequest,
  type Sequence,
} from "@interlace/core";
import type { openPorts } from "../../src/rollout/open-ports.ts";
import type { Language } from "../../src/rollout/open-language.ts";

export type Script = {
  readonly seed: number;
  /** Answers at once; more wait, as with a server. */
  readonly atOnce: number;
  /** Longest time to answer, in milliseconds; 0 = none. */
  readonly slowMs: number;
  /** Before anything is answered: `sampled 0/3/1/2`, `executed 0 code-3-1-1`. */
  readonly onAsked?: (name: string) => void;
  readonly faults?: Faults;
};

export type Answers = readonly (Sequence | Failure)[];

/** What goes wrong: answers instead of the right ones, or something thrown. */
export type Faults = {
  readonly sample: (key: Key, answers: Answers, request: SampleRequest) => Answers;
  readonly execute: (step: number, id: string, result: ExecResult) => ExecResult | Failure;
  /** `sampleSeed`: of the turn that is graded; null = its text does not say. */
  readonly grade: (sampleSeed: number | null) => Grade | null;
};

/** Uniform in [0, 1), by what it is for. */
export function drawn(seed: number, what: string): number {
  return Bun.hash.xxHash32(`${seed} ${what}`) / 2 ** 32;
}

export function scriptedPorts(script: Script): typeof openPorts {
  const { seed, onAsked, faults } = script;
  const slots = createSlots(script.atOnce);
  const answered = (what: string): Promise<void> =>
    script.slowMs === 0
      ? Promise.resolve()
      : slots(() => Bun.sleep(drawn(seed, `slow ${what}`) * script.slowMs));

  return async (_, reading) => {
    const language = await reading;
    const grader = boxedGrader([
      {
        name: "scripted",
        // Which of the answers are right: half of them, by problem.
        judge: (reference, prediction) =>
          Promise.resolve({
            kind: drawn(seed, `right ${reference} ${prediction}`) < 0.5 ? "equal" : "different",
          }),
      },
    ]);
    return {
      sampler: {
        identity: () => Promise.resolve(IDENTITY(language)),
        async sample(request) {
          const key = keyOf(request.id);
          onAsked?.(`sampled ${formatKey(key)}`);
          await answered(request.id);
          const answers = Array.from({ length: request.samples }, (__, i) =>
            say(language, seed, request, i),
          );
          return faults?.sample(key, answers, request) ?? answers;
        },
      },
      identity: IDENTITY(language),
      weights: null,
      sandbox: {
        isolation: () => ({ backend: "scripted", level: "none", lines: [] }),
        async run({ id, code }) {
          const step = Number(/ # step (\d+)/.exec(code)?.[1]);
          onAsked?.(`executed ${step} ${id}`);
          await answered(`run ${step} ${id}`);
          const result = printed(`${Bun.hash.xxHash32(code) % 1000}\n`);
          return faults?.execute(step, id, result) ?? result;
        },
        statistics: () => ({ ...NO_STATISTICS }),
        load: () => ({ waiting: 0, running: 0 }),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      },
      grader: {
        async grade(text, answer, signal) {
          await answered(`grade ${text}`);
          const own = /\(draw (\d+)\)/.exec(text)?.[1];
          const fault = faults?.grade(own === undefined ? null : Number(own)) ?? null;
          return fault ?? grader.grade(text, answer, signal);
        },
      },
      handshakes: [],
      warnings: [],
      retries: () => ({ sampler: 0, sandbox: 0 }),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  };
}

const NO_STATISTICS = {} as ReturnType<
  Awaited<ReturnType<typeof openPorts>>["sandbox"]["statistics"]
>;

const IDENTITY = (language: Language) =>
  ({
    kind: "scripted",
    model: "scripted",
    vocabSize: language.protocol.vocabSize,
    contextLength: 512,
    logprobKind: "raw",
    honoursSeed: true,
    versionSource: "none",
    weightVersion: null,
  }) as const;

export function printed(stdout: string): ExecResult {
  return {
    ok: true,
    status: "ok",
    exitCode: 0,
    signal: null,
    limit: null,
    stdout: captured(stdout),
    stderr: captured(""),
    usage: { queuedSeconds: 0, wallSeconds: 0.25, cpuSeconds: null, peakMemoryBytes: null },
  };
}

/** A call, an answer, a broken call or a cut turn: by the request's own seed, so by its place in the run. */
function say({ protocol, tokenizer }: Language, seed: number, request: SampleRequest, i: number) {
  const own = (request.seed + i) % 2 ** 31;
  const draw = (what: string): number => drawn(seed, `${own} ${what}`);
  const number = Math.floor(draw("number") * 10);
  const { step } = keyOf(request.id);
  const kind = draw("kind");
  const text =
    kind < 0.5
      ? `<tool_call>\n<function=code_interpreter>\n<parameter=code>\nprint(${number}*7) # step ${step}\n</parameter>\n</function>\n</tool_call>`
      : kind < 0.56
        ? "<tool_call>\n<function=code_interpreter>\n<parameter=code>\nprint(1)"
        : `(draw ${own}) \\boxed{${number}}`;
  const whole = [...tokenizer.encode(text), ...protocol.stopIds.slice(0, 1)];
  const ids = Int32Array.from(kind > 0.97 ? whole.slice(0, 5) : whole).slice(0, request.maxTokens);
  return {
    ok: true,
    ids,
    // Distinct by place, so that a mix-up shows.
    logprobs: Float32Array.from(ids, (_, at) => -drawn(own, `logprob ${at}`)),
    finish: ids.length === whole.length ? "stop" : "length",
    seed: own,
    versions: [],
    serverText: null,
  } as const satisfies Sequence;
}

/** From `s0-q3-gx-t0`. */
export function keyOf(requestId: string): Key {
  const match = /^s(\d+)-q(\d+)-g(x|\d+)-t(\d+)$/.exec(requestId);
  if (match === null) throw new Error(`Unreadable request id ${requestId}`);
  const [, step, question, group, turn] = match;
  return {
    step: Number(step),
    question: Number(question),
    group: group === "x" ? null : Number(group),
    turn: Number(turn),
  };
}

function createSlots(atOnce: number): (work: () => Promise<void>) => Promise<void> {
  let free = atOnce;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
