/** Good rows pass; every kind of damage to one value is caught by the rule that stands for it. */
import { describe, expect, test } from "bun:test";
import {
  createDatumFileCheck,
  createReporter,
  type DatumFacts,
  type DatumRow,
  type Rule,
} from "../../src/index.ts";
import { factsOf, rowsOf, scriptedStep } from "../support/datum-rows.ts";

const good = await scriptedStep();

function verify(rows: readonly DatumRow[], facts: Partial<DatumFacts> = {}) {
  const out = createReporter();
  const check = createDatumFileCheck("datums.arrow", { ...factsOf(good), ...facts }, out);
  for (const row of rows) check.row(row);
  check.end();
  return out.report();
}

/** Fresh copies, so that a mutation never reaches another test. */
function copies(): DatumRow[] {
  return structuredClone(rowsOf(good));
}

type Damage = (rows: DatumRow[]) => DatumRow[] | void;

const change = (index: number, make: (row: DatumRow) => Partial<DatumRow>): Damage => {
  return (rows) => rows.map((row, i) => (i === index ? { ...row, ...make(row) } : row));
};
const inPlace = (index: number, edit: (row: DatumRow) => unknown): Damage => {
  return (rows) => {
    edit(rows[index] as DatumRow);
  };
};
const firstTrained = (row: DatumRow) => row.lossMask.indexOf(1);

const MUTATIONS: readonly (readonly [string, Rule, Damage])[] = [
  ["one input token", "shift", inPlace(0, (r) => void (r.inputTokens[3] = 7))],
  ["one target token", "shift", inPlace(1, (r) => void (r.targetTokens[2] = 7))],
  ["targets not shifted", "shift", inPlace(0, (r) => r.targetTokens.set(r.inputTokens))],
  [
    "an id over the vocabulary",
    "ids_in_vocab",
    inPlace(2, (r) => void (r.targetTokens[r.targetTokens.length - 1] = 5000)),
  ],
  ["a negative id", "ids_in_vocab", inPlace(0, (r) => void (r.inputTokens[0] = -1))],
  [
    "a shorter target column",
    "lengths",
    change(0, (r) => ({ targetTokens: r.targetTokens.slice(1) })),
  ],
  [
    "a shorter logprob column",
    "lengths",
    change(0, (r) => ({ oldLogprobs: r.oldLogprobs.slice(1) })),
  ],
  [
    "a longer advantage column",
    "lengths",
    change(0, (r) => ({ advantages: new Float32Array(r.advantages.length + 1) })),
  ],
  ["a shorter mask", "lengths", change(0, (r) => ({ lossMask: r.lossMask.slice(1) }))],
  ["a mask of 2", "mask_binary", inPlace(0, (r) => void (r.lossMask[firstTrained(r)] = 2))],
  ["an empty mask", "mask_binary", inPlace(0, (r) => r.lossMask.fill(0))],
  ["one more bit of mask", "advantages", inPlace(0, (r) => void (r.lossMask[0] = 1))],
  [
    "one more bit of mask, ending where no turn ends",
    "mask_turns",
    inPlace(0, (r) => void (r.lossMask[0] = 1)),
  ],
  [
    "one bit less at the end of a turn",
    "mask_turns",
    inPlace(0, (r) => void (r.lossMask[r.lossMask.length - 1] = 0)),
  ],
  ["a mask moved by one", "mask_turns", inPlace(0, (r) => r.lossMask.copyWithin(0, 1))],
  ["NaN on the mask", "logprobs", inPlace(0, (r) => void (r.oldLogprobs[firstTrained(r)] = NaN))],
  ["NaN off the mask", "logprobs", inPlace(0, (r) => void (r.oldLogprobs[0] = NaN))],
  [
    "−inf on the mask",
    "logprobs",
    inPlace(0, (r) => void (r.oldLogprobs[firstTrained(r)] = -Infinity)),
  ],
  [
    "−9999 on the mask",
    "logprobs",
    inPlace(0, (r) => void (r.oldLogprobs[firstTrained(r)] = -9999)),
  ],
  [
    "a positive logprob",
    "logprobs",
    inPlace(0, (r) => void (r.oldLogprobs[firstTrained(r)] = 0.01)),
  ],
  ["a logprob off the mask", "logprobs", inPlace(0, (r) => void (r.oldLogprobs[0] = -1))],
  ["logprobs moved by one", "logprobs", inPlace(0, (r) => r.oldLogprobs.copyWithin(0, 1))],
  [
    "one advantage differs",
    "advantages",
    inPlace(0, (r) => void (r.advantages[r.advantages.length - 1] = 0.25)),
  ],
  ["an advantage off the mask", "advantages", inPlace(0, (r) => void (r.advantages[0] = 1))],
  ["a zero advantage", "advantages", inPlace(0, (r) => r.advantages.fill(0))],
  [
    "an infinite advantage",
    "advantages",
    inPlace(0, (r) => void (r.advantages[firstTrained(r)] = Infinity)),
  ],
  ["the advantage of another reward", "advantage_value", change(0, (r) => ({ reward: -r.reward }))],
  [
    "advantages halved",
    "advantage_value",
    inPlace(0, (r) => r.advantages.forEach((a, t) => void (r.advantages[t] = a / 2))),
  ],
  ["a wrong group mean", "advantage_value", change(0, () => ({ groupMean: 0.125 }))],
  [
    "two group means in one group",
    "group_stats",
    change(0, (r) => ({ groupMean: r.groupMean + 1, reward: r.reward + 1 })),
  ],
  ["more scored than the group holds", "group_stats", change(0, () => ({ groupScored: 5 }))],
  ["no one scored", "group_stats", change(0, () => ({ groupScored: 0 }))],
  [
    "a turn end too far",
    "turn_ends",
    inPlace(0, (r) => void (r.turnEnds[r.turnEnds.length - 1]! += 1)),
  ],
  ["turn ends that fall", "turn_ends", inPlace(0, (r) => r.turnEnds.set(r.turnEnds.toReversed()))],
  ["a missing turn end", "turn_ends", change(0, (r) => ({ turnEnds: r.turnEnds.slice(1) }))],
  ["one turn too many", "turn_ends", change(0, (r) => ({ turns: r.turns + 1 }))],
  ["a turn end inside a turn", "mask_turns", inPlace(0, (r) => void (r.turnEnds[0]! -= 1))],
  ["a row twice", "identity", (rows) => [rows[0] as DatumRow, ...rows]],
  ["a group index over the group size", "identity", change(0, () => ({ groupIndex: 4 }))],
  [
    "two rows swapped",
    "micro_batch",
    (rows) => [...rows.slice(1, 3), rows[0] as DatumRow, ...rows.slice(3)],
  ],
  ["a micro-batch left out", "micro_batch", (rows) => rows.filter((r) => r.microBatch !== 1)],
  ["a row left out", "sample_weight", (rows) => rows.slice(1)],
  ["one weight", "sample_weight", change(1, (r) => ({ sampleWeight: r.sampleWeight * 2 }))],
  [
    "weights of a whole batch",
    "sample_weight",
    (rows) => rows.map((r) => (r.microBatch === 0 ? { ...r, sampleWeight: 0.5 } : r)),
  ],
  ["correct without a box", "outcome", change(0, () => ({ correct: true, validFormat: false }))],
  [
    "an answer without a format",
    "outcome",
    change(0, () => ({ validFormat: false, correct: false })),
  ],
  ["a reward that is no number", "outcome", change(0, () => ({ reward: NaN }))],
];

describe("datums.arrow", () => {
  test("good rows pass, and every rule that a row can break was checked", () => {
    const report = verify(copies());
    expect(report.findings).toEqual([]);
    expect(rowsOf(good).map((r) => r.microBatch)).toEqual([0, 0, 0, 1, 1, 1, 2, 2]);
    for (const rule of ["shift", "mask_turns", "advantage_value", "sample_weight"] as const) {
      expect(report.checked.get(rule)).toBeGreaterThan(0);
    }
  });

  test.each(MUTATIONS)("%s is caught as %s", (_, rule, damage) => {
    const rows = copies();
    const report = verify(damage(rows) ?? rows);
    expect([...report.failed.keys()]).toContain(rule);
  });

  test("facts that do not fit the rows are caught", () => {
    expect([...verify(copies(), { vocabSize: 200 }).failed.keys()]).toEqual(["ids_in_vocab"]);
    expect([...verify(copies(), { maxContextTokens: 10 }).failed.keys()]).toEqual(["budget"]);
    expect([...verify(copies(), { scoredSamples: 9 }).failed.keys()]).toEqual(["sample_weight"]);
  });

  test("a finding names row, column, position, rule, what was expected and what was seen", () => {
    const rows = copies();
    (rows[2] as DatumRow).lossMask[4] = 3;
    expect(verify(rows).findings[0]).toEqual({
      rule: "mask_binary",
      where: "datums.arrow",
      row: 2,
      column: "loss_mask",
      position: 4,
      expected: "0 or 1",
      seen: "3",
    });
  });

  test("of many findings the first few are kept and all are counted", () => {
    const rows = copies();
    for (const row of rows) row.oldLogprobs.fill(1);
    const report = verify(rows);
    expect(report.failed.get("logprobs")).toBe(8);
    expect(report.findings.filter((f) => f.rule === "logprobs")).toHaveLength(5);
  });
});
