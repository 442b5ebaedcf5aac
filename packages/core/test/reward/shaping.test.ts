import { expect, test } from "bun:test";
import { scoreGrade, shapeReward, SHAPINGS, type Shaping } from "../../src/index.ts";

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
