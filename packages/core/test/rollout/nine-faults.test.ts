/**
 * The nine known faults of the described system, each as a test that fails on its behaviour.
 * Changing one of these is a decision about the product.
 */
import { describe, expect, test } from "bun:test";
import {
  collect,
  finalText,
  groupCentred,
  rolloutConfigSchema,
  scoreGrade,
  type Group,
  type Member,
} from "../../src/index.ts";
import {
  BROKEN_SAMPLER,
  printed,
  problem,
  scriptedPorts,
  toyPlan,
} from "../support/scripted-world.ts";
import { END, toyIds, TOY_WRAPPER } from "../support/toy-protocol.ts";

const termination = (member: Member) =>
  member.phase.type === "graded" ? member.phase.termination : member.phase.type;
const memberOf = (groups: readonly Group[], question: number, index = 0) =>
  groups[question]?.members[index] as Member;

describe("fault 1: the truncation loop can stop shrinking and never end", () => {
  test("65 characters at a limit that holds no tail settle instead of hanging", async () => {
    // The marker line alone is 22 characters; a limit of 10 holds neither it nor the content.
    const plan = toyPlan({ groupSize: 1, maxToolResponseTokens: 10 });
    const { ports, asked } = scriptedPorts({
      say: () => "run:1",
      tool: () => printed("x".repeat(65)),
    });
    const { groups } = await collect(plan, [problem("q")], ports);
    expect(termination(memberOf(groups, 0))).toBe("observation_over_budget");
    expect(asked.calls).toHaveLength(1);
  });

  test("65 characters at a limit of 40 keep the longest tail behind the marker", async () => {
    const plan = toyPlan({ groupSize: 1, maxToolResponseTokens: 40 });
    const content = `${"x".repeat(40)}${"y".repeat(25)}`;
    const { ports } = scriptedPorts({
      say: (_q, _g, turn) => (turn === 0 ? "run:1" : "42"),
      tool: () => printed(content),
    });
    const { groups } = await collect(plan, [problem("q")], ports);
    const marker = "[... truncated ...]\n";
    expect(memberOf(groups, 0).toolCalls[0]?.content).toBe(
      marker + content.slice(-(40 - marker.length)),
    );
    expect(memberOf(groups, 0).toolCalls[0]?.truncated).toBe(true);
  });
});

test("fault 2: an over-long first prompt yields group_size trajectories, counted, with reward −1", async () => {
  const plan = toyPlan({ groupSize: 3, maxTrajectoryTokens: 10 });
  const { ports, asked } = scriptedPorts({ say: () => "42" });
  let settled = 0;
  const problems = [problem("x".repeat(50)), problem("ok")];
  const { groups } = await collect(plan, problems, ports, { onSettled: () => settled++ });
  expect(groups).toHaveLength(2);
  const [long] = groups;
  expect(long?.members.map(termination)).toEqual(Array(3).fill("prompt_over_budget"));
  expect(long?.members.every((m) => m.turns.length === 0)).toBe(true);
  const rewards = long?.members.map((m) =>
    m.phase.type === "graded" ? (scoreGrade(m.phase.grade)?.reward ?? null) : null,
  );
  expect(rewards).toEqual([-1, -1, -1]);
  expect(groupCentred(rewards ?? [])).toEqual([0, 0, 0]);
  expect(settled).toBe(6);
  expect(asked.requests.map((r) => r.id)).toEqual(["s0-q1-gx-t0"]);
});

describe("fault 3: an observation that fills the budget exactly leaves an empty final text", () => {
  // P "q" GO = 2, C1 "run:1" END = 6, wrapper 3: 20 tokens leave 9 for content.
  const exact = 20 - 2 - 6 - TOY_WRAPPER;
  const run = (length: number, minNextTurnTokens: number) => {
    const plan = toyPlan({ groupSize: 1, maxTrajectoryTokens: 20, minNextTurnTokens });
    const { ports } = scriptedPorts({
      say: (_q, _g, turn) => (turn === 0 ? "run:1" : toyIds("4")),
      tool: () => printed("9".repeat(length)),
    });
    return collect(plan, [problem("q", "4")], ports);
  };

  test("an observation must leave min_next_turn_tokens", async () => {
    const over = memberOf((await run(exact, 1)).groups, 0);
    expect(termination(over)).toBe("observation_over_budget");
    expect(finalText(toyPlan().protocol, over)).toBe("run:1");
    const fits = memberOf((await run(exact - 1, 1)).groups, 0);
    expect(termination(fits)).toBe("answer");
    expect(fits.turns[1]?.length).toBe(1);
  });

  test("with min_next_turn_tokens 0 the last turn's text is still the final text", async () => {
    const member = memberOf((await run(exact, 0)).groups, 0);
    expect(termination(member)).toBe("trajectory_budget_exhausted");
    expect(finalText(toyPlan().protocol, member)).toBe("run:1");
    expect(member.codeCalls).toBe(1);
  });

  test('an EOS-only completion has the final text "", zero ids too; no turn has none', async () => {
    const { ports, asked } = scriptedPorts({ say: (_q, group) => (group === 0 ? [END] : []) });
    const { groups } = await collect(toyPlan({ groupSize: 2 }), [problem("q")], ports);
    expect(asked.graded).toEqual(["", ""]);
    expect(memberOf(groups, 0, 1).turns[0]?.length).toBe(0);
    const long = await collect(toyPlan({ maxTrajectoryTokens: 1 }), [problem("q")], ports);
    expect(finalText(toyPlan().protocol, memberOf(long.groups, 0))).toBeNull();
  });
});

describe("fault 4: no room is kept for the tool wrapper", () => {
  const ask = async (reserve: number, say: () => string, caps: object = {}) => {
    const plan = toyPlan({
      groupSize: 1,
      maxTrajectoryTokens: 100,
      observationReserveTokens: reserve,
      ...caps,
    });
    const { ports, asked } = scriptedPorts({ say });
    await collect(plan, [problem("q")], ports);
    return asked.requests.map((r) => [r.prompt.length, r.maxTokens]);
  };

  test("a turn that may still call leaves the reserve", async () => {
    expect(await ask(30, () => "42")).toEqual([[2, 68]]);
  });

  test("a turn that can call no more does not", async () => {
    expect(await ask(30, () => "42", { maxCodeCalls: 0 })).toEqual([[2, 98]]);
    expect(await ask(30, () => "42", { maxAssistantTurns: 1 })).toEqual([[2, 98]]);
  });

  test("a reserve that would leave no token is ignored", async () => {
    expect(await ask(98, () => "42")).toEqual([[2, 98]]);
    expect(await ask(97, () => "42")).toEqual([[2, 1]]);
  });
});

test("fault 6: text is decoded from the ids, a differing server text is counted, strict makes it an error", async () => {
  const say = () => ({ serverText: "run:evil" });
  const { ports, asked } = scriptedPorts({ say });
  const { groups } = await collect(toyPlan({ groupSize: 1 }), [problem("q")], ports);
  expect(asked.calls).toEqual([]);
  expect(memberOf(groups, 0).turns[0]?.textMismatch).toBe(true);
  const strict = toyPlan({ groupSize: 1, strictText: true });
  const batch = await collect(strict, [problem("q")], ports, { maxFailedFraction: 1 });
  expect(memberOf(batch.groups, 0).failure?.cause).toBe("text_mismatch");
});

test("fault 7: one infrastructure error loses one trajectory, a failed first request one group", async () => {
  const { ports } = scriptedPorts({
    say: (question, group) =>
      question === 1 || (question === 0 && group === 2) ? BROKEN_SAMPLER : "42",
  });
  const problems = [problem("a"), problem("b"), problem("c")];
  const batch = await collect(toyPlan({ groupSize: 4 }), problems, ports, {
    maxFailedFraction: 0.5,
  });
  expect(batch.end).toBe("complete");
  expect(batch.groups.map((g) => g.members.map(termination))).toEqual([
    ["answer", "answer", "sampler_failed", "answer"],
    Array(4).fill("sampler_failed"),
    Array(4).fill("answer"),
  ]);
  expect([...batch.failures]).toEqual([["sampler:server_error", 5]]);
});

describe("fault 8: nothing is validated", () => {
  test.each([
    ["groupSize", 0],
    ["groupSize", 1.5],
    ["maxCodeCalls", -1],
    ["maxAssistantTurns", 0],
    ["maxTrajectoryTokens", 0],
    ["maxAssistantTokens", Number.NaN],
    ["maxToolResponseTokens", 0],
    ["temperature", -0.1],
    ["topP", 0],
    ["topP", 1.01],
    ["topK", 0],
    ["seed", 2 ** 31],
    ["seed", -1],
    ["seedScheme", "random"],
    ["unknownField", 1],
  ])("%s = %p is refused by name", (field, value) => {
    const result = rolloutConfigSchema.safeParse({ [field]: value });
    expect(result.success).toBe(false);
    expect(JSON.stringify(result.error?.issues)).toContain(field);
  });

  test("zero is legal where the spec says so", () => {
    const legal = {
      maxCodeCalls: 0,
      observationReserveTokens: 0,
      minNextTurnTokens: 0,
      temperature: 0,
    };
    expect(rolloutConfigSchema.parse(legal)).toMatchObject(legal);
  });
});

test("fault 9: nothing in gives nothing out, and no request is made", async () => {
  const { ports, asked } = scriptedPorts({ say: () => "42" });
  expect(await collect(toyPlan(), [], ports)).toEqual({
    end: "complete",
    groups: [],
    failures: new Map(),
  });
  expect(asked.requests).toEqual([]);
});
