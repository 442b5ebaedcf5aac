import { describe, expect, test } from "bun:test";
import {
  isGraded,
  overlongPenalty,
  scoreGrade,
  scoreShaped,
  shapeReward,
  SHAPINGS,
  type Shaping,
} from "../../src/index.ts";
import { handGroup, RIGHT, UNSCORED } from "../support/hand-built.ts";

const wrong = { reward: -1, validFormat: true, correct: false, answer: "1" };
const right = { reward: 1, validFormat: true, correct: true, answer: "1" };

// One assistant turn without a call is 2 turns of the chat; each call adds its observation and a turn.
test.each<[Shaping, number, number, number]>([
  ["off", 3, 2, -1],
  ["retool_cap0_turns", 1, 0, -1],
  ["retool_cap0_turns", 3, 2, -0.8],
  ["retool_cap0_turns", 21, 20, 0],
  ["retool_cap0_calls", 1, 0, -1.1],
  ["retool_cap0_calls", 3, 2, -1],
  ["retool_cap0_calls", 5, 4, -0.9],
  ["retool_cap06_turns", 3, 2, -0.8],
  ["retool_cap06_turns", 6, 5, -0.6],
  ["retool_cap06_calls", 5, 4, -0.9],
  ["retool_cap06_calls", 41, 40, -0.6],
])("%s, %p turns with %p calls: a wrong answer earns %p", (name, turns, calls, reward) => {
  const activity = { assistantTurns: turns, codeCalls: calls };
  expect(shapeReward(wrong, activity, name)).toBeCloseTo(reward, 12);
});

test("a right answer is never shaped", () => {
  for (const name of SHAPINGS) {
    expect(shapeReward(right, { assistantTurns: 6, codeCalls: 4 }, name)).toBe(1);
  }
});

test("a grade becomes a score; an unscored one becomes none, not −1", () => {
  expect(scoreGrade({ kind: "equal", answer: "1", by: "native" })).toEqual(right);
  expect(scoreGrade({ kind: "different", answer: "1", by: "native" })).toEqual(wrong);
  expect(scoreGrade({ kind: "different", answer: null, by: "format" })).toEqual({
    reward: -1,
    validFormat: false,
    correct: false,
    answer: null,
  });
  expect(scoreGrade({ kind: "unscored", reason: "timeout", detail: "10 s" })).toBeNull();
});

describe("overlong", () => {
  const limits = { maxTokens: 20, bufferTokens: 4 };

  test.each([
    [0, 0],
    [16, 0],
    [17, -0.25],
    [19, -0.75],
    [20, -1],
    [33, -1],
  ])("%p sampled tokens of 20, 4 of them buffer: %p", (tokens, penalty) => {
    expect(overlongPenalty(tokens, limits)).toBeCloseTo(penalty, 15);
  });

  test("a right answer is punished too, an unscored one stays unscored", () => {
    const score = scoreShaped("off", limits);
    const long = Array.from({ length: 18 }, (_, i) => i + 1);
    const turns = [{ before: [1], sampled: long }];
    const group = handGroup(0, [
      { turns, grade: RIGHT },
      { turns, grade: UNSCORED, termination: "answer" },
    ]);
    const rewards = group.members.map((member) => {
      if (!isGraded(member)) throw new Error("graded");
      return score(member)?.reward ?? null;
    });
    expect(rewards).toEqual([0.5, null]);
  });

  test("a buffer that is no part of the limit is refused", () => {
    expect(() => overlongPenalty(1, { maxTokens: 4, bufferTokens: 0 })).toThrow("1 to 4 tokens");
    expect(() => overlongPenalty(1, { maxTokens: 4, bufferTokens: 5 })).toThrow("got 5");
  });
});
