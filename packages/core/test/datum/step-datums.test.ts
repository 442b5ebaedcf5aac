import { describe, expect, test } from "bun:test";
import {
  allocateArena,
  allocateArrays,
  prepareStep,
  projectMicroBatch,
  type createEstimator,
} from "../../src/index.ts";
import { handGroup, handMember, NO_BOX, RIGHT, UNSCORED, WRONG } from "../support/hand-built.ts";

const turn = (...sampled: number[]) => [{ before: [1, 2], sampled }];

// Two problems × group of 3: the second group is all wrong, one member of the first is unscored.
const mixed = handGroup(0, [
  { turns: turn(3), grade: RIGHT },
  { turns: turn(4, 5, 6), grade: WRONG },
  { turns: turn(7), grade: UNSCORED, termination: "answer" },
]);
const unanimous = handGroup(1, [
  { turns: turn(8), grade: WRONG },
  { turns: turn(9), grade: NO_BOX },
  { turns: [], grade: NO_BOX, termination: "prompt_over_budget" },
]);

describe("dynamic sampling", () => {
  const aside = (estimate?: ReturnType<typeof createEstimator>) =>
    prepareStep([unanimous, mixed], {
      maxContextTokens: 100,
      setAsideDegenerate: true,
      ...(estimate === undefined ? {} : { estimate }),
    });

  test("sets a group without a signal aside: kept as trajectories, outside N", () => {
    const step = aside();
    expect(step.trajectories.map(({ noDatum }) => noDatum)).toEqual([
      null,
      null,
      "unscored",
      "no_signal",
      "no_signal",
      "no_signal",
    ]);
    expect(step.trajectories.map(({ advantage }) => advantage)).toEqual([1, -1, null, 0, 0, 0]);
    expect(step.scored).toBe(2);
    expect(step.microBatches.map(({ weight }) => weight)).toEqual([1]);
  });

  test("an estimator over the whole batch does not see it", () => {
    const seen: unknown[] = [];
    aside((groups) => {
      seen.push(groups);
      return groups;
    });
    expect(seen).toEqual([[[1, -1, null]]]);
  });
});

describe("the smallest group that counts", () => {
  test("a group with fewer scored members is set aside whole, also outside N; what is unscored keeps its cause", () => {
    const step = prepareStep([unanimous, mixed], { maxContextTokens: 100, minScored: 3 });
    expect(step.trajectories.map(({ noDatum }) => noDatum)).toEqual([
      "group_too_small",
      "group_too_small",
      "unscored",
      "zero_advantage",
      "zero_advantage",
      "zero_advantage",
    ]);
    expect(step.scored).toBe(3);
  });

  test("by default one scored member is enough", () => {
    const step = prepareStep([mixed], { maxContextTokens: 100 });
    expect(step.trajectories.map(({ noDatum }) => noDatum)).toEqual([null, null, "unscored"]);
  });
});

describe("a step", () => {
  const step = prepareStep([unanimous, mixed], { maxContextTokens: 100 });

  test("is in trajectory order whatever order the groups came in", () => {
    expect(step.trajectories.map(({ group, member }) => [group.question, member.index])).toEqual([
      [0, 0],
      [0, 1],
      [0, 2],
      [1, 0],
      [1, 1],
      [1, 2],
    ]);
  });

  test("says of every trajectory why it gives no datum", () => {
    expect(step.trajectories.map(({ noDatum }) => noDatum)).toEqual([
      null,
      null,
      "unscored",
      "zero_advantage",
      "zero_advantage",
      "zero_advantage",
    ]);
    // An unscored member takes no part in the mean: (1 − 1) / 2.
    expect(step.trajectories.map(({ advantage }) => advantage)).toEqual([1, -1, null, 0, 0, 0]);
    expect(step.trajectories.map(({ groupMean }) => groupMean)).toEqual([0, 0, 0, -1, -1, -1]);
    expect(step.trajectories.map(({ groupScored }) => groupScored)).toEqual([2, 2, 2, 3, 3, 3]);
  });

  test("weighs micro-batches by all scored trajectories, also those without a datum", () => {
    expect(step.scored).toBe(5);
    expect(step.microBatches).toEqual([
      { items: [1, 0], paddedTokens: 8, weight: Math.fround(2 / 5) },
    ]);
  });

  test("lays the arrays of a micro-batch one behind the other", () => {
    const [batch] = step.microBatches;
    if (batch === undefined) throw new Error("one batch");
    const [long, short] = projectMicroBatch(step, batch);
    expect([...(long?.targetTokens ?? [])]).toEqual([2, 4, 5, 6]);
    expect([...(short?.targetTokens ?? [])]).toEqual([2, 3]);
    expect(short?.targetTokens.buffer).toBe(long?.targetTokens.buffer);
    expect(short?.targetTokens.byteOffset).toBe(16);
  });

  test("projects the same into memory that was used before", () => {
    const [batch] = step.microBatches;
    if (batch === undefined) throw new Error("one batch");
    const arena = allocateArena(step);
    expect(arena.inputTokens.length).toBe(6);
    for (const array of Object.values(arena)) array.fill(9);
    expect(projectMicroBatch(step, batch, arena)).toEqual(projectMicroBatch(step, batch));
    expect(() => projectMicroBatch(step, batch, allocateArrays(5))).toThrow(
      "Expected memory for 6 positions, got 5",
    );
  });

  test("without any datum has no micro-batch, even when nothing is scored", () => {
    const lost = handGroup(0, [{ turns: turn(3), grade: UNSCORED }]);
    const empty = prepareStep([lost], { maxContextTokens: 100 });
    expect([empty.scored, empty.datums, empty.microBatches]).toEqual([0, [], []]);
    expect(prepareStep([], { maxContextTokens: 100 }).trajectories).toEqual([]);
  });

  test("takes other rewards and another estimator", () => {
    const other = prepareStep([mixed], {
      maxContextTokens: 100,
      score: (member) => ({
        reward: member.index,
        validFormat: true,
        correct: false,
        answer: null,
      }),
      estimate: (groups) => groups.map((rewards) => rewards.map((reward) => (reward ?? 0) * 10)),
    });
    expect(other.trajectories.map(({ advantage }) => advantage)).toEqual([0, 10, 20]);
    expect(other.datums.length).toBe(2);
  });
});

describe("refused", () => {
  test("are two groups with one question index, live members, and advantages that are missing", () => {
    const options = { maxContextTokens: 100 };
    expect(() => prepareStep([mixed, mixed], options)).toThrow(
      "one group per question index, got two for 0",
    );
    const live = {
      ...mixed,
      members: [
        {
          ...handMember(0, { turns: turn(1), grade: RIGHT }),
          phase: { type: "sampling", turn: 1 } as const,
        },
      ],
    };
    expect(() => prepareStep([live], options)).toThrow("got member 0 of question 0: sampling");
    expect(() => prepareStep([mixed], { ...options, estimate: () => [[1]] })).toThrow(
      "Expected 3 advantages of question 0, got 1",
    );
    expect(() =>
      prepareStep([mixed], { ...options, estimate: (g) => g.map((r) => r.map(() => null)) }),
    ).toThrow("Expected an advantage of member 0 of question 0");
  });
});
