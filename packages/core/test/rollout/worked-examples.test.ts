/** The worked examples of the contract, as literals. Changing one is a decision, not a repair. */
import { describe, expect, test } from "bun:test";
import {
  collect,
  groupCentred,
  open,
  rollout,
  rounds,
  trajectoryIndex,
  type Group,
  type Member,
} from "../../src/index.ts";
import {
  BROKEN_SANDBOX,
  printed,
  problem,
  scriptedPorts,
  toyPlan,
} from "../support/scripted-world.ts";
import { END, GO, OBS, said, toyIds } from "../support/toy-protocol.ts";

const ends = (group: Group) =>
  group.members.map((m) => (m.phase.type === "graded" ? m.phase.termination : m.phase.type));
const kinds = (member: Member) => member.tokens.segments.map((s) => s.kind);

describe("indices", () => {
  test("two problems × group of 3 give the table of trajectory indices", async () => {
    const { ports } = scriptedPorts({ say: () => "42" });
    const { groups } = await collect(
      toyPlan({ groupSize: 3 }),
      [problem("a"), problem("b")],
      ports,
    );
    const table = groups.flatMap((g) =>
      g.members.map((m) => [g.question, m.index, trajectoryIndex(g, m)]),
    );
    expect(table).toEqual([
      [0, 0, 0],
      [0, 1, 1],
      [0, 2, 2],
      [1, 0, 3],
      [1, 1, 4],
      [1, 2, 5],
    ]);
  });

  test("the same problem twice in a batch is two groups", async () => {
    const { ports } = scriptedPorts({ say: () => "42" });
    const twice = problem("same");
    const { groups } = await collect(toyPlan({ groupSize: 2 }), [twice, twice], ports);
    expect(groups.map((g) => g.question)).toEqual([0, 1]);
  });
});

describe("budgets", () => {
  test.each([
    [5000, 1024],
    [7800, 392],
  ])("a prompt of %p tokens in 8192 leaves max_tokens %p", (length, maxTokens) => {
    // The prefix GO is one token of the prompt.
    const { commands } = open(toyPlan(), problem("x".repeat(length - 1)), 0);
    expect(commands).toHaveLength(1);
    const [command] = commands;
    expect(command?.type === "sample" && command.request.maxTokens).toBe(maxTokens);
    expect(command?.type === "sample" && command.request.samples).toBe(8);
  });

  test("a prompt of 8192 tokens settles without a request, group_size times", () => {
    const { group, commands } = open(toyPlan(), problem("x".repeat(8191)), 0);
    expect(commands).toEqual([]);
    expect(ends(group)).toEqual(Array(8).fill("prompt_over_budget"));
  });
});

describe("caps", () => {
  test("a tool call in turn 5 of 6 runs, in turn 6 it does not", async () => {
    const plan = toyPlan({ groupSize: 1, maxCodeCalls: 100, maxAssistantTurns: 6 });
    const { ports, asked } = scriptedPorts({ say: () => "run:1" });
    const { groups } = await collect(plan, [problem("a")], ports);
    expect(asked.calls).toHaveLength(5);
    expect(groups[0]?.members[0]?.turns).toHaveLength(6);
    expect(ends(groups[0] as Group)).toEqual(["turns_exhausted"]);
  });

  test("max_code_calls 2 ends the third call unrun", async () => {
    const plan = toyPlan({ groupSize: 1, maxCodeCalls: 2 });
    const { ports, asked } = scriptedPorts({ say: () => "run:1" });
    const { groups } = await collect(plan, [problem("a")], ports);
    expect(asked.calls.map((c) => c.id)).toEqual(["code-0-0-1", "code-0-0-2"]);
    expect(ends(groups[0] as Group)).toEqual(["code_calls_exhausted"]);
  });
});

test("a two-turn trace is P1 C1 D1 C2, token for token", async () => {
  const { ports, asked } = scriptedPorts({
    say: (_q, _g, turn) => (turn === 0 ? "run:6" : "42"),
    tool: () => printed("7"),
  });
  const { groups } = await collect(toyPlan({ groupSize: 1 }), [problem("q?")], ports);
  const member = groups[0]?.members[0] as Member;
  expect(member.tokens.segments.map((s) => [...s.ids])).toEqual([
    [...toyIds("q?"), GO], //            P1
    said("run:6"), //                    C1, END included
    [OBS, ...toyIds("7"), END, GO], //   D1: the closing END was sampled, it is not repeated
    said("42"), //                       C2
  ]);
  expect(kinds(member)).toEqual(["context", "sampled", "observed", "sampled"]);
  expect(member.turns.map((t) => [t.promptLength, t.length])).toEqual([
    [3, 6],
    [13, 3],
  ]);
  expect(asked.requests[1]?.prompt.length).toBe(13);
});

test("a completion cut by max_tokens gets the whole closing back", async () => {
  const { ports } = scriptedPorts({
    say: (_q, _g, turn) => (turn === 0 ? toyIds("run:6") : "42"),
    tool: () => printed("7"),
  });
  const { groups } = await collect(toyPlan({ groupSize: 1 }), [problem("q?")], ports);
  const member = groups[0]?.members[0] as Member;
  expect([...(member.tokens.segments[2]?.ids ?? [])]).toEqual([END, OBS, ...toyIds("7"), END, GO]);
  expect(member.turns[0]?.finish).toBe("length");
});

test("G = 8 with k = 2 correct gives +1.5 and −0.5", () => {
  const rewards = [1, -1, -1, 1, -1, -1, -1, -1];
  expect(groupCentred(rewards)).toEqual([1.5, -0.5, -0.5, 1.5, -0.5, -0.5, -0.5, -0.5]);
});

test("live counts go 6 → 3 → 1 over three rounds", async () => {
  // Members 0–2 answer at once, 3 and 4 in the second round, 5 in the third.
  const lastTurn = [0, 0, 0, 1, 1, 2];
  const { ports, asked } = scriptedPorts({
    say: (_q, group, turn) => (turn < (lastTurn[group] as number) ? "run:1" : "42"),
  });
  const plan = toyPlan({ groupSize: 6 });
  for await (const _ of rollout(plan, [problem("a")], ports, { schedule: rounds }));
  const live = [0, 1, 2].map((turn) =>
    asked.requests.filter((r) => r.id.endsWith(`t${turn}`)).reduce((n, r) => n + r.samples, 0),
  );
  expect(live).toEqual([6, 3, 1]);
});

test("code_calls is smaller than sandbox runs when an observation does not fit", async () => {
  // P 2, C1 6, D1 8, C2 6 = 22 of 30; a second D of 8 would leave no token for a third turn.
  const plan = toyPlan({ groupSize: 1, maxTrajectoryTokens: 30, maxAssistantTokens: 7 });
  const { ports, asked } = scriptedPorts({ say: () => "run:1", tool: () => printed("12345") });
  const { groups } = await collect(plan, [problem("q")], ports);
  const member = groups[0]?.members[0] as Member;
  expect(asked.calls).toHaveLength(2);
  expect(member.toolCalls).toHaveLength(2);
  expect(member.codeCalls).toBe(1);
  expect(member.toolCalls[1]?.content).toBeNull();
  expect(ends(groups[0] as Group)).toEqual(["observation_over_budget"]);
});

test("a failed tool settles its own trajectory and keeps the run in the record", async () => {
  const { ports } = scriptedPorts({
    say: (_q, group, turn) => (group === 1 && turn === 0 ? "run:1" : "42"),
    tool: () => BROKEN_SANDBOX,
  });
  const { groups } = await collect(toyPlan({ groupSize: 3 }), [problem("a")], ports);
  expect(ends(groups[0] as Group)).toEqual(["answer", "tool_failed", "answer"]);
  const hit = groups[0]?.members[1] as Member;
  expect(hit.failure).toEqual(BROKEN_SANDBOX);
  expect(hit.phase.type === "graded" && hit.phase.grade.kind).toBe("unscored");
  expect(hit.toolCalls[0]?.result).toEqual(BROKEN_SANDBOX);
});
