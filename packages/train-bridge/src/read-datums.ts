/** `datums.arrow` back as records, for `verify`, `view` and tests; token columns are views of the file. */
import type { Datum } from "@interlace/core";
import type { RecordBatch } from "apache-arrow";
import type { TableMetadata } from "./metadata.ts";
import { openTable, type TableSource } from "./read-table.ts";
import { readRow } from "./row-reader.ts";

export type DatumRow = {
  readonly datum: Datum;
  readonly runId: string;
  readonly step: number;
  readonly questionIndex: number;
  readonly groupIndex: number;
  readonly problemId: string;
  readonly dataSource: string;
  readonly reward: number;
  readonly correct: boolean;
  readonly validFormat: boolean;
  readonly finalAnswer: string | null;
  readonly termination: string;
  readonly turns: number;
  readonly codeCalls: number;
  readonly weightVersionStart: string | null;
  readonly weightVersionEnd: string | null;
  readonly sampler: string;
  readonly model: string;
  readonly microBatch: number;
  readonly sampleWeight: number;
  readonly groupMean: number;
  readonly groupScored: number;
};

export type DatumFile = {
  readonly metadata: TableMetadata;
  /** One list per record batch, which is one micro-batch. */
  readonly microBatches: readonly (readonly DatumRow[])[];
};

/** What a file says is not judged here: lengths may differ, ids may be anything; that is what `verify` is for. */
export function readDatums(source: TableSource): DatumFile {
  const { metadata, batches } = openTable(source, "datums");
  return { metadata, microBatches: batches.map(readBatch) };
}

function readBatch(batch: RecordBatch): DatumRow[] {
  return Array.from({ length: batch.numRows }, (_, index): DatumRow => {
    const row = readRow(batch, index);
    return {
      datum: {
        inputTokens: row.ints("input_tokens"),
        targetTokens: row.ints("target_tokens"),
        oldLogprobs: row.floats("old_logprobs"),
        advantages: row.floats("advantages"),
        lossMask: row.bytes("loss_mask"),
        turnEnds: row.ints("turn_ends"),
      },
      runId: row.text("run_id"),
      step: row.number("step"),
      questionIndex: row.number("question_index"),
      groupIndex: row.number("group_index"),
      problemId: row.text("problem_id"),
      dataSource: row.text("data_source"),
      reward: row.number("reward"),
      correct: row.flag("correct"),
      validFormat: row.flag("valid_format"),
      finalAnswer: row.maybeText("final_answer"),
      termination: row.text("termination"),
      turns: row.number("turns"),
      codeCalls: row.number("code_calls"),
      weightVersionStart: row.maybeText("weight_version_start"),
      weightVersionEnd: row.maybeText("weight_version_end"),
      sampler: row.text("sampler"),
      model: row.text("model"),
      microBatch: row.number("micro_batch"),
      sampleWeight: row.number("sample_weight"),
      groupMean: row.number("group_mean"),
      groupScored: row.number("group_scored"),
    };
  });
}
