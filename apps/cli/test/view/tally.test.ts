/** What a page holds of a step is decided before it is written, and is a beginning of what was chosen. */
import { expect, test } from "bun:test";
import type { TrajectoryRow } from "@interlace/train-bridge";
import { leftOut, rewardStats, tallyStep, type Limit } from "../../src/view/tally.ts";

const ALL = { question: null, only: null } as const;

function row(question: number, group: number, tokens: number, correct: boolean): TrajectoryRow {
  return {
    runId: "run",
    step: 0,
    questionIndex: question,
    groupIndex: group,
    problemId: `p${question}`,
    dataSource: "",
    reward: correct ? 1 : -1,
    correct,
    validFormat: true,
    advantage: 0,
    finalAnswer: null,
    termination: "answer",
    codeCalls: 0,
    noDatum: null,
    messages: [],
    tokens: new Int32Array(tokens),
    spans: [],
    logprobs: new Float32Array(0),
    turns: [],
    toolCalls: [],
    grade: { kind: "different", answer: null, by: "exact", reason: null, detail: null },
    failure: null,
  };
}

const rows = [row(0, 0, 10, true), row(0, 1, 40, false), row(1, 0, 5, true), row(1, 1, 5, true)];

function shown(limit: Limit): readonly boolean[] {
  const { groups } = tallyStep(rows, ALL, limit);
  return groups.flatMap(({ members }) => members.map(({ isShown }) => isShown));
}

test("the first so many are shown", () => {
  expect(shown({ trajectories: 3, tokens: 100 })).toEqual([true, true, true, false]);
  expect(shown({ trajectories: 9, tokens: 100 })).toEqual([true, true, true, true]);
});

test("tokens end the page too: nothing shorter is picked from behind a long one", () => {
  expect(shown({ trajectories: 9, tokens: 49 })).toEqual([true, false, false, false]);
  expect(shown({ trajectories: 9, tokens: 55 })).toEqual([true, true, true, false]);
});

test("the first one is shown however long it is", () => {
  expect(shown({ trajectories: 1, tokens: 1 })).toEqual([true, false, false, false]);
});

test("what is not chosen takes no room", () => {
  const tally = tallyStep(rows, { question: null, only: "right" }, { trajectories: 2, tokens: 49 });
  expect(tally).toMatchObject({ trajectories: 4, chosen: 3, shown: 2 });
  expect(tally.groups.map((group) => group.shown)).toEqual([1, 1]);
  expect(leftOut(tally)).toStartWith("1 more is not shown; --limit 3 shows all");
});

test("mean and deviation are over the scored ones", () => {
  expect(rewardStats([3, null, 1])).toEqual({ scored: 2, mean: 2, std: Math.sqrt(2) });
  expect(rewardStats([1, null])).toEqual({ scored: 1, mean: 1, std: null });
  expect(rewardStats([null])).toEqual({ scored: 0, mean: null, std: null });
});
