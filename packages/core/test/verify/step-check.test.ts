/** A step's files against each other: good ones pass in every rule, each kind of damage is caught by its rule. */
import { describe, expect, test } from "bun:test";
import {
  buildLedger,
  checkGradedText,
  checkMessages,
  checkStep,
  checkTexts,
  createReporter,
  measureStep,
  type DatumRow,
  type Ledger,
  type Metrics,
  type Rule,
  type StepFacts,
  type TrajectoryRow,
} from "../../src/index.ts";
import { rowsOf, scriptedStep, STEP_OPTIONS, trajectoryRowsOf } from "../support/datum-rows.ts";
import { TOY_VOCAB, toyProtocol } from "../support/toy-protocol.ts";

const step = await scriptedStep();
const protocol = toyProtocol();
const facts: StepFacts = {
  groupSize: 4,
  vocabSize: TOY_VOCAB,
  maxTrajectoryTokens: 400,
  names: {
    trajectories: "trajectories.arrow",
    datums: "datums.arrow",
    metrics: "metrics.jsonl",
    ledger: "ledger.json",
  },
  datums: STEP_OPTIONS,
};

type Files = {
  trajectories: TrajectoryRow[];
  datums: DatumRow[];
  metrics: Metrics;
  ledger: Ledger;
};

function files(): Files {
  return structuredClone({
    trajectories: trajectoryRowsOf(step, protocol),
    datums: rowsOf(step),
    metrics: measureStep(step),
    ledger: buildLedger(step, { asked: 8 }),
  });
}

function verify(given: Files) {
  const out = createReporter();
  const groups = checkStep(given, facts, out);
  const at = given.trajectories.map((_, row) => ({ where: "trajectories.arrow", row }));
  for (const group of groups) {
    const rows = given.trajectories.filter((row) => row.questionIndex === group.question);
    const places = at.filter((_, i) => given.trajectories[i]?.questionIndex === group.question);
    checkTexts(protocol, group, rows, places, out);
    for (const [i, row] of rows.entries()) checkMessages(row, places[i]!, out);
  }
  return out.report();
}

type Damage = (files: Files) => unknown;
const row = (index: number, make: (row: TrajectoryRow) => Partial<TrajectoryRow>): Damage => {
  return (f) =>
    f.trajectories.splice(index, 1, { ...f.trajectories[index]!, ...make(f.trajectories[index]!) });
};
const datum = (index: number, make: (row: DatumRow) => Partial<DatumRow>): Damage => {
  return (f) => f.datums.splice(index, 1, { ...f.datums[index]!, ...make(f.datums[index]!) });
};

const MUTATIONS: readonly (readonly [string, Rule, Damage])[] = [
  ["one token of a prompt", "template", row(0, (r) => ({ tokens: r.tokens.with(0, 66) }))],
  [
    "one token of an observation",
    "template",
    row(0, (r) => ({ tokens: r.tokens.with(r.spans[2]!.start, 66) })),
  ],
  ["one sampled token", "text", row(0, (r) => ({ tokens: r.tokens.with(r.spans[1]!.start, 66) }))],
  [
    "an id over the vocabulary",
    "ids_in_vocab",
    row(1, (r) => ({ tokens: r.tokens.with(1, 9999) })),
  ],
  ["a logprob that is NaN", "logprobs", row(1, (r) => ({ logprobs: r.logprobs.with(0, NaN) }))],
  ["a logprob changed", "mask_sampled", row(0, (r) => ({ logprobs: r.logprobs.with(0, -0.125) }))],
  [
    "a span moved",
    "spans",
    row(0, (r) => ({ spans: r.spans.map((s, i) => (i === 1 ? { ...s, start: s.start + 1 } : s)) })),
  ],
  ["a span left out", "spans", row(0, (r) => ({ spans: r.spans.slice(1) }))],
  [
    "a sampled span called observed",
    "spans",
    row(0, (r) => ({ spans: r.spans.map((s, i) => (i === 1 ? { ...s, kind: "observed" } : s)) })),
  ],
  [
    "an unknown kind of span",
    "spans",
    row(0, (r) => ({ spans: r.spans.map((s, i) => (i === 1 ? { ...s, kind: "guess" } : s)) })),
  ],
  ["tokens cut", "spans", row(0, (r) => ({ tokens: r.tokens.slice(0, -1) }))],
  [
    "a turn whose prompt is shorter",
    "prefix",
    row(0, (r) => ({ turns: r.turns.map((t) => ({ ...t, prompt_length: t.prompt_length - 1 })) })),
  ],
  ["two turns swapped", "prefix", row(0, (r) => ({ turns: r.turns.toReversed() }))],
  [
    "a turn past the budget",
    "budget",
    row(1, (r) => ({ turns: r.turns.map((t) => ({ ...t, length: 4000 })) })),
  ],
  [
    "version spans with a gap",
    "versions",
    row(1, (r) => ({
      turns: r.turns.map((t) => ({ ...t, versions: [{ version: "a", start: 1, end: t.length }] })),
    })),
  ],
  [
    "version spans too short",
    "versions",
    row(1, (r) => ({
      turns: r.turns.map((t) => ({ ...t, versions: [{ version: "a", start: 0, end: 1 }] })),
    })),
  ],
  [
    "a text of another turn",
    "text",
    row(0, (r) => ({ turns: r.turns.map((t) => ({ ...t, text: `${t.text}!` })) })),
  ],
  [
    "a message that no turn said",
    "text",
    row(0, (r) => ({ messages: r.messages.map((m) => ({ ...m, content: `${m.content}!` })) })),
  ],
  ["a message left out", "text", row(0, (r) => ({ messages: r.messages.slice(0, -1) }))],
  ["an unknown end", "outcome", row(0, () => ({ termination: "bored" }))],
  [
    "a failure without its end",
    "outcome",
    row(0, () => ({ failure: { boundary: "sampler", cause: "x", detail: "" } })),
  ],
  ["an end without its failure", "outcome", row(0, () => ({ termination: "tool_failed" }))],
  ["code calls that are not in the list", "outcome", row(0, () => ({ codeCalls: 3 }))],
  ["a reward that is not the grade's", "outcome", row(0, (r) => ({ reward: -r.reward! }))],
  ["correct although different", "outcome", row(1, (r) => ({ correct: !r.correct }))],
  [
    "an unscored row with a reward",
    "outcome",
    row(1, (r) => ({ grade: { ...r.grade, kind: "unscored" } })),
  ],
  ["an advantage of another group", "advantage_value", row(1, () => ({ advantage: 0.25 }))],
  ["a reason on an exported row", "exported", row(0, () => ({ noDatum: "zero_advantage" }))],
  ["a trajectory left out", "group_complete", (f) => f.trajectories.pop()],
  ["a trajectory twice", "identity", (f) => f.trajectories.splice(1, 0, f.trajectories[0]!)],
  ["rows out of order", "identity", (f) => (f.trajectories = f.trajectories.toReversed())],
  ["a group index over the group size", "identity", row(3, () => ({ groupIndex: 7 }))],
  ["a datum left out", "exported", (f) => f.datums.pop()],
  ["a datum twice", "exported", (f) => f.datums.push(f.datums[0]!)],
  [
    "datums of two trajectories swapped",
    "mask_sampled",
    (f) => {
      const [a, b] = [f.datums[0]!, f.datums[1]!];
      f.datums[0] = { ...a, groupIndex: b.groupIndex, questionIndex: b.questionIndex };
      f.datums[1] = { ...b, groupIndex: a.groupIndex, questionIndex: a.questionIndex };
    },
  ],
  [
    "one bit of mask moved to an observation",
    "mask_sampled",
    datum(0, (r) => ({ lossMask: r.lossMask.with(0, 1) })),
  ],
  ["a datum's reward", "outcome", datum(0, (r) => ({ reward: r.reward + 1 }))],
  ["a datum's group mean", "group_stats", datum(0, () => ({ groupMean: 0.75 }))],
  ["stale metrics", "metrics", (f) => (f.metrics = { ...f.metrics, "reward/mean": 0.99 })],
  [
    "a metric left out",
    "metrics",
    (f) => {
      const { "rollout/turns": _, ...rest } = f.metrics;
      f.metrics = rest;
    },
  ],
  [
    "a ledger that does not balance",
    "ledger",
    (f) => (f.ledger = { ...f.ledger, trajectories: { ...f.ledger.trajectories, exported: 1 } }),
  ],
  ["a stale ledger", "ledger", (f) => (f.ledger = { ...f.ledger, truncatedTurns: 5 })],
  [
    "an end counted wrongly",
    "ledger",
    (f) => (f.ledger = { ...f.ledger, terminations: { answer: 7, invalid_format: 1 } }),
  ],
];

describe("a step", () => {
  test("good files pass", () => {
    const report = verify(files());
    expect(report.findings).toEqual([]);
    const rules = [
      "spans",
      "prefix",
      "mask_sampled",
      "metrics",
      "ledger",
      "text",
      "template",
    ] as const;
    for (const rule of rules)
      expect([rule, (report.checked.get(rule) ?? 0) > 0]).toEqual([rule, true]);
  });

  test.each(MUTATIONS)("%s is caught as %s", (_, rule, damage) => {
    const given = files();
    damage(given);
    expect([...verify(given).failed.keys()]).toContain(rule);
  });

  test("a verdict must stand for the box of the last text", () => {
    const rows = files().trajectories;
    const boxed = {
      ...rows[1]!,
      turns: rows[1]!.turns.map((t) => ({ ...t, text: "\\boxed{41}" })),
    };
    const found = (answer: string | null) => {
      const out = createReporter();
      const grade = { ...boxed.grade, kind: "different", answer };
      checkGradedText({ ...boxed, grade }, { where: "trajectories.arrow", row: 1 }, out);
      return out.report().findings.map((f) => [f.rule, f.expected, f.seen]);
    };
    expect(found("41")).toEqual([]);
    expect(found("42")).toEqual([["grade", "41", "42"]]);
    expect(found(null)).toEqual([["grade", "41", "null"]]);
  });
});
