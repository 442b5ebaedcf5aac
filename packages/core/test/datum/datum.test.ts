import { describe, expect, test } from "bun:test";
import { allocateArrays, findNoDatumReason, makeDatum, projectDatum } from "../../src/index.ts";
import { handMember, NO_BOX, RIGHT } from "../support/hand-built.ts";

// The two-turn trace of rollout.md §10: P1 C1 D1 C2.
//                 P1       C1       D1          C2
const trace = handMember(0, {
  turns: [
    { before: [10, 11, 12], sampled: [20, 21], logprobs: [-0.5, -0.25] },
    { before: [30, 31, 32, 33], sampled: [40, 41, 42], logprobs: [-1, -2, -0.125] },
  ],
  grade: RIGHT,
});

describe("a datum", () => {
  test("is the whole trajectory shifted by one, with signal on sampled targets only", () => {
    const datum = projectDatum(trace, 1.5, 8192);
    // full:                     10  11  12  20    21     30  31  32  33  40  41  42
    expect([...datum.inputTokens]).toEqual([10, 11, 12, 20, 21, 30, 31, 32, 33, 40, 41]);
    expect([...datum.targetTokens]).toEqual([11, 12, 20, 21, 30, 31, 32, 33, 40, 41, 42]);
    expect([...datum.lossMask]).toEqual([0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 1]);
    expect([...datum.oldLogprobs]).toEqual([0, 0, -0.5, -0.25, 0, 0, 0, 0, -1, -2, -0.125]);
    expect([...datum.advantages]).toEqual([0, 0, 1.5, 1.5, 0, 0, 0, 0, 1.5, 1.5, 1.5]);
    // P1 + C1 = 5 tokens, P2 + C2 = 12.
    expect([...datum.turnEnds]).toEqual([5, 12]);
  });

  test("ends with the last turn: what was joined after it is no one's context", () => {
    const longer = handMember(0, {
      turns: [{ before: [10], sampled: [20] }],
      after: [30, 31],
      grade: RIGHT,
    });
    const datum = projectDatum(longer, 1, 8192);
    expect([...datum.inputTokens]).toEqual([10]);
    expect([...datum.targetTokens]).toEqual([20]);
  });

  test("keeps the observation before a last turn of zero tokens", () => {
    const member = handMember(0, {
      turns: [
        { before: [10], sampled: [20] },
        { before: [30, 31], sampled: [] },
      ],
      grade: NO_BOX,
    });
    const datum = projectDatum(member, -1, 8192);
    expect([...datum.inputTokens]).toEqual([10, 20, 30]);
    expect([...datum.targetTokens]).toEqual([20, 30, 31]);
    expect([...datum.lossMask]).toEqual([1, 0, 0]);
    expect([...datum.turnEnds]).toEqual([2, 4]);
  });

  test("has no target for a token at position 0", () => {
    const member = handMember(0, { turns: [{ before: [], sampled: [5, 6, 7] }], grade: RIGHT });
    const datum = projectDatum(member, 2, 8192);
    expect([...datum.targetTokens]).toEqual([6, 7]);
    expect([...datum.oldLogprobs]).toEqual([-2, -3]);
    expect([...datum.lossMask]).toEqual([1, 1]);
  });

  test("is written into the arrays that are given", () => {
    const into = allocateArrays(11);
    expect(projectDatum(trace, 1.5, 8192, into).inputTokens).toBe(into.inputTokens);
    expect([...into.targetTokens]).toEqual([11, 12, 20, 21, 30, 31, 32, 33, 40, 41, 42]);
  });
});

test.each([
  ["begins with a sample", { turns: [{ before: [], sampled: [5, 6, 7] }] }],
  [
    "begins with an empty prompt and an empty turn",
    {
      turns: [
        { before: [], sampled: [] },
        { before: [1], sampled: [2] },
      ],
    },
  ],
  [
    "ends with an empty turn",
    {
      turns: [
        { before: [1], sampled: [2] },
        { before: [3, 4], sampled: [] },
      ],
    },
  ],
  ["goes on after its last turn", { turns: [{ before: [1, 2], sampled: [3] }], after: [4, 5] }],
])("a trajectory that %s leaves nothing of what the memory held before", (_, spec) => {
  const member = handMember(0, { ...spec, grade: RIGHT });
  const fresh = projectDatum(member, 2, 8192);
  const used = allocateArrays(fresh.inputTokens.length);
  for (const array of Object.values(used)) array.fill(9);
  expect(projectDatum(member, 2, 8192, used)).toEqual(fresh);
});

describe("no datum", () => {
  test("for a trajectory that is unscored, without advantage, without completion, or too long", () => {
    const silent = handMember(0, { turns: [{ before: [1, 2], sampled: [] }], grade: NO_BOX });
    const lone = handMember(0, { turns: [{ before: [], sampled: [1] }], grade: NO_BOX });
    const unsent = handMember(0, { turns: [], grade: NO_BOX });
    expect(findNoDatumReason(trace, null, 8192)).toBe("unscored");
    expect(findNoDatumReason(trace, 0, 8192)).toBe("zero_advantage");
    expect(findNoDatumReason(trace, -0, 8192)).toBe("zero_advantage");
    expect(findNoDatumReason(silent, -1, 8192)).toBe("no_completion_tokens");
    expect(findNoDatumReason(lone, -1, 8192)).toBe("no_completion_tokens");
    expect(findNoDatumReason(unsent, -1, 8192)).toBe("no_completion_tokens");
    // 12 tokens are 11 positions.
    expect(findNoDatumReason(trace, 1, 10)).toBe("over_max_context_tokens");
    expect(findNoDatumReason(trace, 1, 11)).toBeNull();
  });

  test("and asking for it all the same names the member and the reason", () => {
    expect(() => projectDatum(trace, 1, 10)).toThrow(
      "Member 0 gives no datum: over_max_context_tokens (advantage 1, 11 tokens, at most 10)",
    );
    expect(() => projectDatum(trace, 0, 8192)).toThrow("zero_advantage");
    expect(() => projectDatum(trace, NaN, 8192)).toThrow("expected a finite advantage, got NaN");
  });
});

describe("a broken record is refused", () => {
  test("when a turn's prompt is not all the tokens so far, with the turn", () => {
    const [first, second] = trace.turns;
    if (first === undefined || second === undefined) throw new Error("two turns");
    const drifted = { ...trace, turns: [first, { ...second, promptLength: 8, length: 4 }] };
    expect(() => projectDatum(drifted, 1, 8192)).toThrow(
      "Member 0, turn 1: expected a prompt of 9 tokens and 3 sampled ones",
    );
  });

  test.each([
    [NaN, "NaN"],
    [-Infinity, "-Infinity"],
    [0.5, "0.5"],
  ])("when a logprob is %p", (value, seen) => {
    const member = handMember(3, {
      turns: [{ before: [1], sampled: [2, 3], logprobs: [-1, value] }],
      grade: RIGHT,
    });
    expect(() => projectDatum(member, 1, 8192)).toThrow(
      `Member 3, turn 0: expected -9999 < logprob ≤ 0.0001, got ${seen} at position 1`,
    );
  });

  test("when arrays differ in length, nothing is learnt, or turn ends do not fit", () => {
    const arrays = allocateArrays(3);
    const ends = Int32Array.of(4);
    expect(() => makeDatum({ ...arrays, lossMask: new Uint8Array(2) }, ends)).toThrow(
      "Expected loss_mask to be as long as input_tokens (3), got 2",
    );
    expect(() => makeDatum({ ...arrays, oldLogprobs: new Float32Array(4) }, ends)).toThrow(
      "Expected old_logprobs to be as long as input_tokens (3), got 4",
    );
    expect(() => makeDatum(arrays, ends)).toThrow("at least one completion token among 3 targets");
    const learnt = { ...arrays, lossMask: Uint8Array.of(0, 1, 0) };
    expect(() => makeDatum(learnt, Int32Array.of(3))).toThrow("to end after 4 tokens, got 3");
    expect(() => makeDatum(learnt, Int32Array.of(3, 2))).toThrow(
      "turn ends that rise, got 2 after 3",
    );
    expect(makeDatum(learnt, ends).turnEnds).toBe(ends);
  });
});
