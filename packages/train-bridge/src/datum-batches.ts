/**
 * In: a step's datums and micro-batches. Out: the schema and one record batch per micro-batch, made one at a time,
 * so memory holds one. Rows: by micro-batch and packing order. Advantages stay unscaled; the learner multiplies.
 */
import {
  allocateArena,
  allocateArrays,
  datumLength,
  projectMicroBatch,
  type Datum,
  type DatumArrays,
  type MicroBatch,
  type StepDatums,
  type TrainedTrajectory,
} from "@interlace/core";
import type { Schema } from "apache-arrow";
import {
  boolColumn,
  byteListColumn,
  checkBufferBytes,
  constantColumn,
  doubleColumn,
  floatColumn,
  floatListColumn,
  intColumn,
  intListColumn,
  packRows,
  textColumn,
} from "./columns.ts";
import type { ArrowTable } from "./encode-ipc.ts";
import { identityColumns } from "./identity-columns.ts";
import { metadataToMap } from "./metadata.ts";
import { makeRecordBatch, type ColumnBatch, type Columns } from "./record-batch.ts";
import { tableSchema } from "./schema.ts";
import type { StepContext } from "./step-context.ts";

/** `reused` memory: a batch is valid until the next is asked for, and the step costs the memory of one. */
export function datumTable(
  step: StepDatums,
  context: StepContext,
  memory: "fresh" | "reused" = "fresh",
): ArrowTable {
  const schema = tableSchema(
    "datums",
    metadataToMap("datums", {
      ...context.facts,
      scoredSamples: step.scored,
      rows: step.datums.length,
    }),
  );
  const batches = {
    *[Symbol.iterator]() {
      const arena = memory === "reused" ? allocateArena(step) : null;
      for (const [index, batch] of step.microBatches.entries()) {
        const arrays = arena ?? allocateArrays(countTokens(step, batch));
        const datums = projectMicroBatch(step, batch, arrays);
        yield microBatchRows(step, context, schema, { batch, index, datums, arrays });
      }
    },
  };
  return { schema, batches };
}

type ProjectedBatch = {
  readonly batch: MicroBatch;
  readonly index: number;
  readonly datums: readonly Datum[];
  /** Begin with the datums, one behind the other. */
  readonly arrays: DatumArrays;
};

function microBatchRows(
  step: StepDatums,
  context: StepContext,
  schema: Schema,
  { batch, index, datums, arrays }: ProjectedBatch,
): ColumnBatch {
  const rows = batch.items.flatMap((item) => step.datums[item] ?? []);
  const count = rows.length;
  const texts = (column: string, read: (row: TrainedTrajectory) => string | null) =>
    textColumn(rows.map(read), column);
  return makeRecordBatch(schema, count, {
    ...tokenColumns(datums, arrays),
    ...identityColumns(rows, context),
    reward: doubleColumn(rows.map(({ score }) => score.reward)),
    correct: boolColumn(rows.map(({ score }) => score.correct)),
    valid_format: boolColumn(rows.map(({ score }) => score.validFormat)),
    final_answer: texts("final_answer", ({ score }) => score.answer),
    termination: texts("termination", ({ member }) => member.phase.termination),
    turns: intColumn(rows.map(({ member }) => member.turns.length)),
    code_calls: intColumn(rows.map(({ member }) => member.codeCalls)),
    weight_version_start: texts("weight_version_start", firstVersion),
    weight_version_end: texts("weight_version_end", lastVersion),
    sampler: constantColumn(context.sampler, count, "sampler"),
    model: constantColumn(context.model, count, "model"),
    micro_batch: intColumn(rows.map(() => index)),
    sample_weight: floatColumn(rows.map(() => batch.weight)),
    turn_ends: intListColumn(
      packRows(
        datums.map(({ turnEnds }) => [turnEnds]),
        "turn_ends",
        Int32Array,
      ),
    ),
    group_mean: doubleColumn(rows.map(({ groupMean }) => groupMean)),
    group_scored: intColumn(rows.map(({ groupScored }) => groupScored)),
  });
}

/** The columns as they lie in the arrays; all five begin their rows at the same places. */
function tokenColumns(datums: readonly Datum[], arrays: DatumArrays): Columns {
  const offsets = new Int32Array(datums.length + 1);
  let end = 0;
  for (const [i, { inputTokens }] of datums.entries()) offsets[i + 1] = end += inputTokens.length;
  // No other is wider.
  checkBufferBytes(end * Int32Array.BYTES_PER_ELEMENT, "input_tokens");
  return {
    input_tokens: intListColumn({ offsets, data: arrays.inputTokens.subarray(0, end) }),
    target_tokens: intListColumn({ offsets, data: arrays.targetTokens.subarray(0, end) }),
    old_logprobs: floatListColumn({ offsets, data: arrays.oldLogprobs.subarray(0, end) }),
    advantages: floatListColumn({ offsets, data: arrays.advantages.subarray(0, end) }),
    loss_mask: byteListColumn({ offsets, data: arrays.lossMask.subarray(0, end) }),
  };
}

function countTokens(step: StepDatums, { items }: MicroBatch): number {
  return items.reduce((sum, item) => {
    const source = step.datums[item];
    return sum + (source === undefined ? 0 : datumLength(source.member));
  }, 0);
}

/** Of the first sampled token; null where the server did not tell. */
function firstVersion({ member }: TrainedTrajectory): string | null {
  return member.turns.find(({ versions }) => versions.length > 0)?.versions[0]?.version ?? null;
}

function lastVersion({ member }: TrainedTrajectory): string | null {
  const turn = member.turns.findLast(({ versions }) => versions.length > 0);
  return turn?.versions.at(-1)?.version ?? null;
}
