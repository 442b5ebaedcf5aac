/**
 * What holds between the rows of one `datums.arrow`: identities, micro-batches, weights, groups.
 * In: rows one after the other, so that a file larger than memory is fine. Out: findings; `end` closes the file.
 */
import { checkRecord } from "./datum-record.ts";
import type { DatumFacts, DatumRow } from "./datum-row.ts";
import { checkTokens } from "./datum-tokens.ts";
import type { Reporter } from "./report.ts";

export type DatumFileCheck = {
  readonly row: (row: DatumRow) => void;
  readonly end: () => void;
};

type GroupSeen = {
  readonly row: number;
  readonly mean: number;
  readonly scored: number;
  count: number;
};
type OpenBatch = {
  readonly index: number;
  readonly weight: number;
  rows: number;
  shortest: number;
};

export function createDatumFileCheck(
  where: string,
  facts: DatumFacts,
  out: Reporter,
): DatumFileCheck {
  const identities = new Set<string>();
  const groups = new Map<string, GroupSeen>();
  let rows = 0;
  let batch: OpenBatch | null = null;

  function checkIdentity(row: DatumRow, at: { where: string; row: number }): void {
    const { step, questionIndex, groupIndex } = row;
    const name = `${step}/${questionIndex}/${groupIndex}`;
    const isNew = !identities.has(name);
    out.expect("identity", isNew, { ...at, column: "group_index" }, "each trajectory once", name);
    identities.add(name);
    const isInside = groupIndex >= 0 && groupIndex < facts.groupSize && questionIndex >= 0;
    const place = { ...at, column: "group_index" };
    out.expect("identity", isInside, place, `0 ≤ group_index < ${facts.groupSize}`, name);
  }

  function checkGroup(row: DatumRow, at: { where: string; row: number }): void {
    const key = `${row.step}/${row.questionIndex}`;
    const seen = groups.get(key);
    if (seen === undefined) {
      groups.set(key, { row: at.row, mean: row.groupMean, scored: row.groupScored, count: 1 });
      return;
    }
    seen.count += 1;
    const holds = row.groupMean === seen.mean && row.groupScored === seen.scored;
    const expected = `${seen.mean} over ${seen.scored}, as in row ${seen.row}`;
    const found = `${row.groupMean} over ${row.groupScored}`;
    out.expect("group_stats", holds, { ...at, column: "group_mean" }, expected, found);
    const within = seen.count <= row.groupScored;
    const place = { ...at, column: "group_scored" };
    out.expect("group_stats", within, place, `≥ ${seen.count} rows of the group`, row.groupScored);
  }

  function closeBatch(): void {
    if (batch === null) return;
    const { index, rows: size, weight } = batch;
    const expected = Math.fround(size / facts.scoredSamples);
    const place = { where, row: rows - 1, column: "sample_weight" };
    const rule = `micro-batch ${index}: ${size} / ${facts.scoredSamples} = ${expected}`;
    out.expect("sample_weight", weight === expected, place, rule, weight);
  }

  function checkBatch(row: DatumRow, at: { where: string; row: number }): void {
    const length = row.inputTokens.length;
    if (batch === null || row.microBatch !== batch.index) {
      const next: number = batch === null ? 0 : batch.index + 1;
      closeBatch();
      const place = { ...at, column: "micro_batch" };
      out.expect("micro_batch", row.microBatch === next, place, next, row.microBatch);
      batch = { index: row.microBatch, weight: row.sampleWeight, rows: 1, shortest: length };
      return;
    }
    const same = row.sampleWeight === batch.weight;
    const place = { ...at, column: "sample_weight" };
    out.expect(
      "sample_weight",
      same,
      place,
      `${batch.weight} as in its micro-batch`,
      row.sampleWeight,
    );
    const falls = length <= batch.shortest;
    const lengths = { ...at, column: "input_tokens" };
    out.expect("micro_batch", falls, lengths, `≤ ${batch.shortest} tokens (longest first)`, length);
    batch.rows += 1;
    batch.shortest = Math.min(batch.shortest, length);
  }

  return {
    row(row) {
      const at = { where, row: rows };
      if (checkTokens(row, facts, at, out)) checkRecord(row, facts, at, out);
      checkIdentity(row, at);
      checkGroup(row, at);
      checkBatch(row, at);
      rows += 1;
    },
    end() {
      closeBatch();
      const holds = rows <= facts.scoredSamples;
      out.expect(
        "sample_weight",
        holds,
        { where },
        `at most N = ${facts.scoredSamples} rows`,
        rows,
      );
    },
  };
}
