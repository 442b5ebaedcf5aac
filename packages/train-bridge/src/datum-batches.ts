/**
 * In: a step's datums and micro-batches. Out: the schema and one record batch per micro-batch, made one at a time,
 * so memory holds one. Rows: by micro-batch and packing order. Advantages stay unscaled; the learner multiplies.
 */
import {
  allocateArena,
  projectMicroBatch,
  type Datum,
  type MicroBatch,
  type StepDatums,
  type TrainedTrajectory,
} from "@interlace/core";
import type { RecordBatch, Schema } from "apache-arrow";
import {
  boolColumn,
  byteListColumn,
  constantColumn,
  doubleColumn,
  floatColumn,
  floatListColumn,
  intColumn,
  intListColumn,
  textColumn,
} from "./columns.ts";
import { identityColumns } from "./identity-columns.ts";
import { metadataToMap } from "./metadata.ts";
import { makeRecordBatch } from "./record-batch.ts";
import { tableSchema } from "./schema.ts";
import type { StepContext } from "./step-context.ts";

/** A schema and its batches, made when asked for. */
export type ArrowTable = { readonly schema: Schema; readonly batches: Iterable<RecordBatch> };

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
      const arena = memory === "reused" ? allocateArena(step) : undefined;
      for (const [index, batch] of step.microBatches.entries()) {
        const datums = projectMicroBatch(step, batch, arena);
        yield microBatchRows(step, context, schema, datums, batch, index);
      }
    },
  };
  return { schema, batches };
}

function microBatchRows(
  step: StepDatums,
  context: StepContext,
  schema: Schema,
  datums: readonly Datum[],
  batch: MicroBatch,
  index: number,
): RecordBatch {
  const rows = batch.items.flatMap((item) => step.datums[item] ?? []);
  const count = rows.length;
  const ints = (name: "inputTokens" | "targetTokens" | "turnEnds", column: string) =>
    intListColumn(
      datums.map((datum) => datum[name]),
      column,
    );
  const floats = (name: "oldLogprobs" | "advantages", column: string) =>
    floatListColumn(
      datums.map((datum) => datum[name]),
      column,
    );
  const texts = (column: string, read: (row: TrainedTrajectory) => string | null) =>
    textColumn(rows.map(read), column);
  return makeRecordBatch(schema, count, {
    input_tokens: ints("inputTokens", "input_tokens"),
    target_tokens: ints("targetTokens", "target_tokens"),
    old_logprobs: floats("oldLogprobs", "old_logprobs"),
    advantages: floats("advantages", "advantages"),
    loss_mask: byteListColumn(
      datums.map(({ lossMask }) => lossMask),
      "loss_mask",
    ),
    ...identityColumns(rows, context),
    reward: doubleColumn(rows.map(({ score }) => score.reward)),
    correct: boolColumn(rows.map(({ score }) => score.correct)),
    valid_format: boolColumn(rows.map(({ score }) => score.validFormat)),
    final_answer: texts("final_answer", ({ score }) => score.answer),
    termination: texts("termination", ({ member }) => member.phase.termination),
    turns: intColumn(rows.map(({ member }) => member.turns.length)),
    code_calls: intColumn(rows.map(({ member }) => member.codeCalls)),
    weight_version_start: texts("weight_version_start", (row) => versionsOf(row).at(0) ?? null),
    weight_version_end: texts("weight_version_end", (row) => versionsOf(row).at(-1) ?? null),
    sampler: constantColumn(context.sampler, count, "sampler"),
    model: constantColumn(context.model, count, "model"),
    micro_batch: intColumn(rows.map(() => index)),
    sample_weight: floatColumn(rows.map(() => batch.weight)),
    turn_ends: ints("turnEnds", "turn_ends"),
    group_mean: doubleColumn(rows.map(({ groupMean }) => groupMean)),
    group_scored: intColumn(rows.map(({ groupScored }) => groupScored)),
  });
}

/** Of all sampled tokens, in order; null where the server did not tell. */
function versionsOf({ member }: TrainedTrajectory): readonly (string | null)[] {
  return member.turns.flatMap((turn) => turn.versions.map(({ version }) => version));
}
