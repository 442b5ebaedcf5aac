import { describe, expect, test } from "bun:test";
import {
  gradeScore,
  scoreShaped,
  scoreWith,
  weightScores,
  type ScoreTrajectory,
} from "../../src/index.ts";
import { handGroup, handMember, NO_BOX, RIGHT, UNSCORED, WRONG } from "../support/hand-built.ts";

const turn = { before: [1, 2], sampled: [3, 4, 5] };
const member = handMember(0, { turns: [turn], grade: RIGHT });
const wrong = handMember(1, { turns: [turn], grade: WRONG });
const unscored = handMember(2, { turns: [turn], grade: UNSCORED });
const group = handGroup(0, [
  { turns: [turn], grade: RIGHT },
  { turns: [turn], grade: WRONG },
  { turns: [turn], grade: UNSCORED },
]);

/** A tenth for each sampled token below ten. */
const brevity: ScoreTrajectory = ({ turns }) => {
  const tokens = turns.reduce((sum, { length }) => sum + length, 0);
  return { kind: "scored", reward: (10 - tokens) / 10, metrics: { tokens } };
};

test("several scores are weighted, and each tells its own reward and metrics", () => {
  const score = weightScores([
    { name: "grade", weight: 1, score: gradeScore },
    { name: "brevity", weight: 0.5, score: brevity },
  ]);
  expect(score(wrong, group)).toEqual({
    kind: "scored",
    reward: -1 + 0.5 * 0.7,
    metrics: { "grade/reward": -1, "brevity/reward": 0.7, "brevity/tokens": 3 },
  });
});

describe("what is not known is no zero", () => {
  test("one unscored part makes the sum unscored, with its name and reason", () => {
    const score = weightScores([
      { name: "brevity", weight: 1, score: brevity },
      { name: "grade", weight: 1, score: gradeScore },
    ]);
    expect(score(unscored, group)).toEqual({ kind: "unscored", reason: "grade: grader_timeout" });
    expect(scoreWith(score)(unscored, group)).toBeNull();
  });

  test("an unscored grade stays unscored under any reward", () => {
    expect(scoreWith(brevity)(unscored, group)).toBeNull();
    expect(scoreShaped("retool_cap0_turns")(unscored)).toBeNull();
  });
});

test("a custom reward changes the reward and nothing else of the score", () => {
  expect(scoreWith(brevity)(member, group)).toEqual({
    reward: 0.7,
    validFormat: true,
    correct: true,
    answer: "42",
  });
});

test("shaping counts a member's own turns and joined observations", () => {
  // One turn, no call: 2 turns of the chat, nothing to add.
  expect(scoreShaped("retool_cap0_turns")(wrong)?.reward).toBe(-1);
  const called = { ...handMember(0, { turns: [turn, turn], grade: NO_BOX }), codeCalls: 1 };
  // Question, two turns, one observation: (4 − 2) / 2 · 0.1.
  expect(scoreShaped("retool_cap0_turns")(called)).toEqual({
    reward: -0.9,
    validFormat: false,
    correct: false,
    answer: null,
  });
  expect(scoreShaped("off")(called)?.reward).toBe(-1);
});
