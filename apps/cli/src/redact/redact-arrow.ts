/**
 * An Arrow file of a run without its texts. In: its bytes. Out: the same bytes, changed in place: every offset, length
 * and number stays where it was, so that what is wrong with a file is still wrong in its copy.
 */
import { readTrajectories } from "@interlace/train-bridge";
import { DataType, RecordBatchReader, type Data, type RecordBatch } from "apache-arrow";
import type { Place, Places } from "./places.ts";

/** Names of a closed vocabulary, and names of the run's own: they say nothing of what was said. */
const KEPT: ReadonlySet<string> = new Set([
  "run_id",
  "termination",
  "sampler",
  "model",
  "weight_version_start",
  "weight_version_end",
  "version",
  "no_datum",
  "role",
  "name",
  "tool_call_id",
  "id",
  "kind",
  "finish",
  "parsed",
  "invalid_cause",
  "status",
  "signal",
  "by",
  "reason",
  "boundary",
  "cause",
]);

/** Lists of ids, and the position of their first one. */
const ID_COLUMNS: Readonly<Record<string, number>> = {
  tokens: 0,
  input_tokens: 0,
  target_tokens: 1,
};

/** Tells the places which ids a step's trajectories have. */
export function learnPlaces(bytes: Uint8Array, places: Places): void {
  for (const row of readTrajectories(bytes).rows) {
    const { questionIndex: question, groupIndex: group, tokens, turns } = row;
    const prompt = turns[0]?.prompt_length ?? tokens.length;
    places.learn({ question, group }, prompt, Int32Array.from(tokens));
  }
}

export function redactArrow(bytes: Uint8Array, places: Places): void {
  for (const batch of RecordBatchReader.from(bytes).open()) {
    const rows = placesOf(batch);
    for (const [i, { name }] of batch.schema.fields.entries()) {
      const column = batch.data.children[i];
      if (column === undefined) continue;
      const first = ID_COLUMNS[name];
      if (first === undefined) redactTexts(name, column);
      else redactIds(column, rows, first, places);
    }
  }
}

function placesOf(batch: RecordBatch): readonly Place[] {
  const questions = batch.getChild("question_index");
  const groups = batch.getChild("group_index");
  return Array.from({ length: batch.numRows }, (_, row) => ({
    question: Number(questions?.get(row)),
    group: Number(groups?.get(row)),
  }));
}

function redactIds(column: Data, rows: readonly Place[], first: number, places: Places): void {
  const [child] = column.children;
  const values = child?.values as unknown;
  if (!(values instanceof Int32Array)) throw new Error("Expected a list of 32-bit ids");
  for (const [row, place] of rows.entries()) {
    const start = column.valueOffsets[row] as number;
    const end = column.valueOffsets[row + 1] as number;
    places.replace(place, first, values.subarray(start, end));
  }
}

function redactTexts(name: string, column: Data): void {
  for (const [i, child] of column.children.entries()) {
    redactTexts(column.type.children[i]?.name ?? name, child);
  }
  // Utf8 has bytes and offsets and no children.
  const values = column.values as unknown;
  if (KEPT.has(name) || column.children.length > 0 || !(values instanceof Uint8Array)) return;
  if (!DataType.isUtf8(column.type)) return;
  values.fill("x".charCodeAt(0), column.valueOffsets[0], column.valueOffsets[column.length]);
}
