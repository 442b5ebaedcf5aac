/** Steps put together by hand: a literal one for exact values, drawn ones for breadth. */
import {
  append,
  captured,
  fail,
  prepareStep,
  sampledSegment,
  segment,
  tokensOf,
  weightVersion,
  type ExecResult,
  type Grade,
  type GradedMember,
  type Group,
  type Protocol,
  type StepDatums,
  type Tokens,
  type ToolCall,
  type Turn,
} from "@interlace/core";
import type { RunFacts, StepContext, TrajectoryOptions } from "../../src/index.ts";

export const FACTS: RunFacts = {
  groupSize: 2,
  temperature: 1,
  topP: 0.7,
  topK: null,
  logprobKind: "processed",
  tokenizerId: "bytes",
  tokenizerHash: "sha256:01",
  vocabSize: 265,
  maxContextTokens: 512,
  seed: 42,
  seedScheme: "hashed",
  configHash: "sha256:02",
  advantageEstimator: "group_centred",
  systemPromptHash: "sha256:03",
  toolHash: "sha256:04",
  chatTemplateHash: "sha256:05",
};

export const CONTEXT: StepContext = {
  runId: "run-1",
  step: 3,
  sampler: "scripted",
  model: "byte-model",
  facts: FACTS,
};

export type HandTurn = {
  readonly before: readonly number[];
  readonly sampled: readonly number[];
  readonly logprobs: readonly number[];
  readonly rest?: Partial<Turn>;
};

export function member(
  index: number,
  turns: readonly HandTurn[],
  grade: Grade,
  rest: Partial<Pick<GradedMember, "toolCalls" | "failure">> & {
    readonly termination?: GradedMember["phase"]["termination"];
  } = {},
): GradedMember {
  let tokens: Tokens = tokensOf(Int32Array.from(turns[0]?.before ?? []));
  const records = turns.map((turn, i): Turn => {
    if (i > 0) tokens = append(tokens, segment("observed", Int32Array.from(turn.before)));
    const promptLength = tokens.length;
    const ids = Int32Array.from(turn.sampled);
    tokens = append(tokens, sampledSegment(ids, Float32Array.from(turn.logprobs)));
    const isLast = i === turns.length - 1;
    return {
      promptLength,
      length: ids.length,
      finish: "stop",
      seed: 100 + i,
      versions: [{ version: weightVersion(`v${i + 1}`), start: 0, end: ids.length }],
      parsed: isLast ? "answer" : "tool",
      invalidCause: null,
      opensCall: !isLast,
      textMismatch: false,
      ...turn.rest,
    };
  });
  const { termination = "answer", toolCalls = [], failure = null } = rest;
  const codeCalls = toolCalls.filter(({ content }) => content !== null).length;
  return {
    index,
    tokens,
    turns: records,
    toolCalls,
    codeCalls,
    failure,
    phase: { type: "graded", termination, grade },
  };
}

export function group(question: number, members: readonly GradedMember[]): Group {
  return {
    question,
    problem: { id: `p${question}`, question: "What is 6*7? π", answer: "42", dataSource: "made" },
    members,
  };
}

const RAN = {
  ok: true,
  status: "ok",
  exitCode: 0,
  signal: null,
  limit: null,
  stdout: captured("42\n"),
  stderr: { head: "warn", tail: "ing", omittedBytes: 5, totalBytes: 12 },
  usage: { queuedSeconds: 0.5, wallSeconds: 0.25, cpuSeconds: null, peakMemoryBytes: 2 ** 33 },
} as const satisfies ExecResult;

const JOINED: ToolCall = {
  id: "code-0-0-1",
  turn: 0,
  code: "print(6*7)",
  result: RAN,
  content: "42\n",
  truncated: false,
};

/** The same call of code that printed something else. */
export function callPrinting(stdout: string): ToolCall {
  return { ...JOINED, result: { ...RAN, stdout: captured(stdout) } };
}

const LOST: ToolCall = {
  id: "code-1-0-1",
  turn: 0,
  code: "while True: pass",
  result: fail("sandbox", "sandbox_error", "The worker died"),
  content: null,
  truncated: false,
};

/**
 * Question 0: a two-turn trajectory that is right, a short one that is wrong (invalid).
 * Question 1: one unscored, one scored alone, so without advantage.
 */
export const LITERAL_GROUPS: readonly Group[] = [
  group(0, [
    member(
      0,
      [
        { before: [10, 11, 12], sampled: [20, 21], logprobs: [-0.5, -0.25] },
        { before: [30, 31], sampled: [40, 41, 42], logprobs: [-1, -2, -0.125] },
      ],
      { kind: "equal", answer: "42", by: "native" },
      { toolCalls: [JOINED] },
    ),
    member(
      1,
      [
        {
          before: [10, 11, 12],
          sampled: [50],
          logprobs: [-3],
          rest: {
            finish: "length",
            parsed: "invalid",
            invalidCause: "unclosed_call",
            opensCall: true,
            textMismatch: true,
            versions: [{ version: null, start: 0, end: 1 }],
          },
        },
      ],
      { kind: "different", answer: null, by: "format" },
      { termination: "invalid_format" },
    ),
  ]),
  group(1, [
    member(
      0,
      [{ before: [10], sampled: [60, 61], logprobs: [-1, -1] }],
      { kind: "unscored", reason: "sandbox_error", detail: "The worker died" },
      {
        termination: "tool_failed",
        toolCalls: [LOST],
        failure: fail("sandbox", "sandbox_error", "The worker died"),
      },
    ),
    member(1, [{ before: [10], sampled: [70], logprobs: [-1] }], {
      kind: "different",
      answer: "7",
      by: "native",
    }),
  ]),
];

export function literalStep(): StepDatums {
  return prepareStep(LITERAL_GROUPS, { maxContextTokens: 512 });
}

/** Reads ids aloud; only what the tables ask a protocol for. */
export const PROTOCOL: Protocol = {
  firstPrompt: () => Int32Array.of(10, 11, 12),
  stopIds: [],
  vocabSize: 265,
  decodeTurn: (ids) => `say ${[...ids].join(" ")} 🙂`,
  parse: (content) => ({ kind: "answer", content }),
  opensCall: () => false,
  countPlain: (text) => text.length,
  joinObservation: () => new Int32Array(0),
};

export const TRAJECTORY_OPTIONS: TrajectoryOptions = {
  protocol: PROTOCOL,
  firstMessages: ({ question }) => [
    { role: "system", content: "Use the tool." },
    { role: "user", content: question },
  ],
  // 0.25 ms: kept to the microsecond.
  timeOf: (question, _, turn) =>
    question === 0 ? { start: 1000 + turn, end: 2000.25 + turn } : null,
};

/** Pseudo-random numbers in [0, 1): a linear congruential generator, the same on every machine. */
export function drawer(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** `questions` groups of 4 with one to three turns each and mixed outcomes. */
export function drawnStep(questions: number, seed: number): StepDatums {
  const draw = drawer(seed);
  const below = (limit: number): number => Math.floor(draw() * limit);
  const ids = (length: number): number[] => Array.from({ length }, () => below(265));
  const groups = Array.from({ length: questions }, (_, question) => {
    const prompt = ids(1 + below(30));
    return group(
      question,
      Array.from({ length: 4 }, (__, index) =>
        member(
          index,
          Array.from({ length: 1 + below(3) }, (___, turn) => {
            const sampled = ids(1 + below(40));
            const before = turn === 0 ? prompt : ids(1 + below(20));
            return { before, sampled, logprobs: sampled.map(() => -draw() * 8) };
          }),
          draw() < 0.5
            ? { kind: "equal", answer: "42", by: "native" }
            : { kind: "different", answer: draw() < 0.5 ? "é🙂" : null, by: "native" },
        ),
      ),
    );
  });
  return prepareStep(groups, {
    maxContextTokens: 512,
    packing: { maxItems: 5, maxPaddedTokens: 400 },
  });
}
