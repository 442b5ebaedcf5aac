/** What one datum row says beside its tokens: turns, outcome, advantage, limits. In: a row. Out: findings. */
import type { DatumFacts, DatumRow } from "./datum-row.ts";
import type { Reporter } from "./report.ts";

type Where = { readonly where: string; readonly row: number };

export function checkRecord(row: DatumRow, facts: DatumFacts, at: Where, out: Reporter): void {
  checkTurnEnds(row, at, out);
  checkMaskTurns(row, at, out);
  checkOutcome(row, at, out);
  checkAdvantage(row, facts, at, out);
  const length = row.inputTokens.length;
  const most = facts.maxContextTokens;
  out.expect(
    "budget",
    length <= most,
    { ...at, column: "input_tokens" },
    `≤ ${most} tokens`,
    length,
  );
}

function checkTurnEnds({ turnEnds, turns, inputTokens }: DatumRow, at: Where, out: Reporter): void {
  const place = { ...at, column: "turn_ends" };
  out.expect("turn_ends", turnEnds.length === turns, place, `${turns} ends`, turnEnds.length);
  for (let i = 1; i < turnEnds.length; i++) {
    const [before, end] = [turnEnds[i - 1] as number, turnEnds[i] as number];
    out.expect("turn_ends", end >= before, { ...place, position: i }, `≥ ${before}`, end);
  }
  const total = inputTokens.length + 1;
  const last = turnEnds.at(-1);
  out.expect("turn_ends", last === total, place, `last end ${total}`, last ?? "no turn");
}

/** A run of trained targets is one completion (or several without tokens between): it ends where a turn ends. */
function checkMaskTurns({ lossMask, turnEnds }: DatumRow, at: Where, out: Reporter): void {
  const ends = new Set(turnEnds);
  let runs = 0;
  for (let t = 0; t < lossMask.length; t++) {
    if (lossMask[t] !== 1 || lossMask[t + 1] === 1) continue;
    runs += 1;
    // Target t is token t + 1 of the trajectory; an end counts tokens.
    const place = { ...at, column: "loss_mask", position: t };
    out.expect("mask_turns", ends.has(t + 2), place, "a turn ends here", [...ends]);
  }
  const place = { ...at, column: "loss_mask" };
  const { length } = turnEnds;
  out.expect("mask_turns", runs <= length, place, `at most ${length} runs`, runs);
}

/** What the ±1 reward allows. A custom reward is any finite number. */
function checkOutcome(row: DatumRow, at: Where, out: Reporter): void {
  const { reward, correct, validFormat, finalAnswer } = row;
  out.expect(
    "outcome",
    Number.isFinite(reward),
    { ...at, column: "reward" },
    "a finite reward",
    reward,
  );
  const answered = finalAnswer !== null;
  const place = { ...at, column: "final_answer" };
  out.expect("outcome", answered === validFormat, place, `valid_format ${answered}`, validFormat);
  const held = !correct || validFormat;
  out.expect("outcome", held, { ...at, column: "correct" }, "valid_format", "correct without it");
}

function checkAdvantage(row: DatumRow, facts: DatumFacts, at: Where, out: Reporter): void {
  const { groupMean, groupScored, reward } = row;
  const size = facts.groupSize;
  const scored = Number.isInteger(groupScored) && groupScored >= 1 && groupScored <= size;
  out.expect("group_stats", scored, { ...at, column: "group_scored" }, `1 to ${size}`, groupScored);
  // Others need the whole batch: the step check computes them again.
  if (facts.advantageEstimator !== "group_centred" && facts.advantageEstimator !== "dr_grpo")
    return;
  const expected = Math.fround(reward - groupMean);
  const seen = row.advantages[row.lossMask.indexOf(1)];
  const place = { ...at, column: "advantages" };
  out.expect(
    "advantage_value",
    seen === expected,
    place,
    `reward − group_mean = ${expected}`,
    seen,
  );
}
