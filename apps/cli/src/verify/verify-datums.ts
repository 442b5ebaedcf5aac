/** A lone `datums.arrow`. In: its path. Out: findings, and which rules need more than this file. */
import { createDatumFileCheck, type DatumFacts, type Reporter, type Rule } from "@interlace/core";
import { readDatums, type DatumRow, type TableMetadata } from "@interlace/train-bridge";
import { messageOf } from "../person-error.ts";

/** Rules that hold between files of a run. */
const NEED_RUN: readonly Rule[] = [
  "spans",
  "prefix",
  "mask_sampled",
  "group_complete",
  "exported",
  "metrics",
  "ledger",
  "text",
  "template",
  "grade",
  "versions",
  "event_log",
];

/** The file's rows, for rules between files; null = it cannot be read. */
export type CheckedDatums = { readonly metadata: TableMetadata; readonly rows: Iterable<FlatRow> };

export type FlatRow = DatumRow & DatumRow["datum"];

export function verifyDatums(path: string, name: string, out: Reporter): CheckedDatums | null {
  out.checked("readable");
  try {
    const file = readDatums(path);
    const check = createDatumFileCheck(name, factsOf(file.metadata), out);
    for (const row of flatRows(file.microBatches)) check.row(row);
    check.end();
    return { metadata: file.metadata, rows: flatRows(file.microBatches) };
  } catch (error) {
    out.fail("readable", { where: name }, "an Arrow file of Interlace", messageOf(error));
    return null;
  }
}

export function skipRunRules(out: Reporter): void {
  for (const rule of NEED_RUN) out.skip(rule, "needs the run folder");
}

export function factsOf(metadata: TableMetadata): DatumFacts {
  const { groupSize, vocabSize, maxContextTokens, scoredSamples, advantageEstimator } = metadata;
  return { groupSize, vocabSize, maxContextTokens, scoredSamples, advantageEstimator };
}

function* flatRows(batches: Iterable<readonly DatumRow[]>): Generator<FlatRow> {
  for (const batch of batches) for (const row of batch) yield { ...row, ...row.datum };
}
