/**
 * Twelve kinds of faults at three boundaries, each hitting one trajectory in a hundred. In: a seed and a rate.
 * Out: scripted faults, and a record of which trajectories they hit. A fault of a group's shared first request
 * that spoils the whole answer hits the whole group.
 */
import { fail, type ExecResult, type Failure, type Grade, type Sequence } from "@interlace/core";
import { drawn, type Answers, type Faults } from "../support/scripted-ports.ts";

type SequenceFault = (answer: Sequence, maxTokens: number) => Sequence | Failure;

/** One sequence of an answer. */
const SEQUENCE_FAULTS: Readonly<Record<string, SequenceFault>> = {
  server_error: () => fail("sampler", "server_error", "Expected 200, got 503 after 4 tries"),
  refused: () => fail("sampler", "refused", "Expected 200, got 400"),
  logprob_nan: (answer) => ({ ...answer, logprobs: withFirst(answer.logprobs, Number.NaN) }),
  logprob_positive: (answer) => ({ ...answer, logprobs: withFirst(answer.logprobs, 0.3) }),
  logprob_left_out: (answer) => ({ ...answer, logprobs: answer.logprobs.slice(1) }),
  id_outside: (answer) => ({ ...answer, ids: withFirst(answer.ids, 1_000_000) }),
  too_long: (answer, maxTokens) => ({
    ...answer,
    ids: new Int32Array(maxTokens + 1),
    logprobs: new Float32Array(maxTokens + 1),
  }),
  aborted: (answer) => ({ ...answer, finish: "aborted" }),
};

/** A whole answer of the sampler. */
const ANSWER_FAULTS: Readonly<Record<string, (answers: Answers) => Answers>> = {
  wrong_count: (answers) => [...answers, ...answers],
  sampler_throws: () => {
    throw new Error("socket closed");
  },
};

const SANDBOX_FAULTS: Readonly<Record<string, (result: ExecResult) => ExecResult | Failure>> = {
  sandbox_error: () => fail("sandbox", "sandbox_error", "The worker went away twice"),
};

const GRADE_FAULTS: Readonly<Record<string, Grade>> = {
  grade_timeout: { kind: "unscored", reason: "timeout", detail: "No verdict within 10 s" },
};

export const FAULT_KINDS: readonly string[] = [
  SEQUENCE_FAULTS,
  ANSWER_FAULTS,
  SANDBOX_FAULTS,
  GRADE_FAULTS,
].flatMap((each) => Object.keys(each));

export type Injection = {
  readonly faults: Faults;
  /** `question/group` → kind; step 0 only. */
  readonly hit: ReadonlyMap<string, string>;
};

export function injectFaults(seed: number, rate: number): Injection {
  const hit = new Map<string, string>();
  const owners = new Map<number, string>();
  const strikes = (kind: string, who: string): boolean => drawn(seed, `${kind} ${who}`) < rate;
  const note = (who: string, kind: string): void => {
    if (!hit.has(who)) hit.set(who, kind);
  };
  /** Which of a trajectory's turns a kind is meant for: the first or the second. */
  const turnOf = (kind: string, who: string): number =>
    Math.floor(drawn(seed, `turn ${kind} ${who}`) * 2);

  const faults: Faults = {
    sample({ question, group, turn }, answers, request) {
      const places = answers.map((_, i) => `${question}/${group ?? i}`);
      for (const [kind, spoil] of Object.entries(ANSWER_FAULTS)) {
        // A group's first request is one request: it is struck as often as one trajectory's.
        const who = group === null ? `${question}/all` : (places[0] as string);
        if (!strikes(kind, who) || turnOf(kind, who) !== turn) continue;
        for (const place of places) note(place, kind);
        return spoil(answers);
      }
      return answers.map((answer, i) => {
        const who = places[i] as string;
        if (!answer.ok) return answer;
        owners.set(answer.seed, who);
        for (const [kind, spoil] of Object.entries(SEQUENCE_FAULTS)) {
          if (!strikes(kind, who) || turnOf(kind, who) !== turn) continue;
          note(who, kind);
          return spoil(answer, request.maxTokens);
        }
        return answer;
      });
    },
    execute(_, id, result) {
      const [, question, group] = id.split("-");
      const who = `${question}/${group}`;
      for (const [kind, spoil] of Object.entries(SANDBOX_FAULTS)) {
        if (!strikes(kind, who)) continue;
        note(who, kind);
        return spoil(result);
      }
      return result;
    },
    grade(sampleSeed) {
      const who = sampleSeed === null ? undefined : owners.get(sampleSeed);
      if (who === undefined) return null;
      for (const [kind, grade] of Object.entries(GRADE_FAULTS)) {
        if (!strikes(kind, who)) continue;
        note(who, kind);
        return grade;
      }
      return null;
    },
  };
  return { faults, hit };
}

function withFirst<T extends Int32Array | Float32Array>(values: T, first: number): T {
  const copy = values.slice() as T;
  if (copy.length > 0) copy[0] = first;
  return copy;
}
