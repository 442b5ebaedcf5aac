/**
 * Token columns of one datum row: shift, ids, mask, logprobs, advantages. In: a row. Out: findings.
 * The hot part of `verify`: one pass over plain arrays; it looks closer only where something is wrong.
 */
import { isLogprob, LOGPROB_RANGE } from "../tokens/logprob.ts";
import type { DatumFacts, DatumRow } from "./datum-row.ts";
import type { Reporter } from "./report.ts";

type Where = { readonly where: string; readonly row: number };

/** false = lengths differ, nothing else of the row can be looked at. */
export function checkTokens(row: DatumRow, facts: DatumFacts, at: Where, out: Reporter): boolean {
  if (!checkLengths(row, at, out)) return false;
  checkShift(row, at, out);
  checkIds("input_tokens", row.inputTokens, facts.vocabSize, at, out);
  checkIds("target_tokens", row.targetTokens, facts.vocabSize, at, out);
  checkMask(row, at, out);
  checkLogprobs(row, at, out);
  checkAdvantages(row, at, out);
  return true;
}

function checkLengths(row: DatumRow, at: Where, out: Reporter): boolean {
  const length = row.inputTokens.length;
  const others = {
    target_tokens: row.targetTokens.length,
    old_logprobs: row.oldLogprobs.length,
    advantages: row.advantages.length,
    loss_mask: row.lossMask.length,
  };
  let holds = true;
  for (const [column, seen] of Object.entries(others)) {
    out.expect("lengths", seen === length, { ...at, column }, `${length} as input_tokens`, seen);
    holds &&= seen === length;
  }
  return holds;
}

function checkShift({ inputTokens, targetTokens }: DatumRow, at: Where, out: Reporter): void {
  out.checked("shift", inputTokens.length);
  for (let t = 0; t + 1 < inputTokens.length; t++) {
    if (targetTokens[t] === inputTokens[t + 1]) continue;
    const place = { ...at, column: "target_tokens", position: t };
    out.fail("shift", place, inputTokens[t + 1], targetTokens[t]);
    return;
  }
}

function checkIds(column: string, ids: Int32Array, vocab: number, at: Where, out: Reporter): void {
  out.checked("ids_in_vocab", ids.length);
  for (let t = 0; t < ids.length; t++) {
    const id = ids[t] as number;
    if (id >= 0 && id < vocab) continue;
    out.fail("ids_in_vocab", { ...at, column, position: t }, `0 ≤ id < ${vocab}`, id);
    return;
  }
}

function checkMask({ lossMask }: DatumRow, at: Where, out: Reporter): void {
  out.checked("mask_binary", lossMask.length);
  let ones = 0;
  for (let t = 0; t < lossMask.length; t++) {
    const bit = lossMask[t] as number;
    if (bit > 1) {
      out.fail("mask_binary", { ...at, column: "loss_mask", position: t }, "0 or 1", bit);
      return;
    }
    ones += bit;
  }
  if (ones === 0) {
    out.fail("mask_binary", { ...at, column: "loss_mask" }, "at least one 1", "none");
  }
}

function checkLogprobs({ oldLogprobs, lossMask }: DatumRow, at: Where, out: Reporter): void {
  out.checked("logprobs", oldLogprobs.length);
  for (let t = 0; t < oldLogprobs.length; t++) {
    const value = oldLogprobs[t] as number;
    const isTrained = lossMask[t] === 1;
    const holds = isTrained ? isLogprob(value) : value === 0;
    if (holds) continue;
    const expected = isTrained ? LOGPROB_RANGE : "0";
    out.fail("logprobs", { ...at, column: "old_logprobs", position: t }, expected, String(value));
    return;
  }
}

function checkAdvantages({ advantages, lossMask }: DatumRow, at: Where, out: Reporter): void {
  out.checked("advantages", advantages.length);
  const first = advantages[lossMask.indexOf(1)] ?? 0;
  for (let t = 0; t < advantages.length; t++) {
    const value = advantages[t] as number;
    const isTrained = lossMask[t] === 1;
    const holds = isTrained
      ? value === first && value !== 0 && Number.isFinite(value)
      : value === 0;
    if (holds) continue;
    const expected = isTrained ? `one non-zero number (${first} at the first trained token)` : "0";
    out.fail("advantages", { ...at, column: "advantages", position: t }, expected, String(value));
    return;
  }
}
