/** `--columns question=problem,answer=solution`, read once for every command that has it. */
import { nearestName } from "../config/nearest-name.ts";
import { wrongUse } from "../person-error.ts";

export const COLUMN_FIELDS = ["question", "answer", "id", "data_source", "answer_form"] as const;
export type ColumnField = (typeof COLUMN_FIELDS)[number];

export function parseColumnFlags(given: readonly string[]): ReadonlyMap<ColumnField, string> {
  const columns = new Map<ColumnField, string>();
  for (const entry of given) {
    const at = entry.indexOf("=");
    const written = entry.slice(0, Math.max(0, at));
    const field = COLUMN_FIELDS.find((name) => name === written);
    if (at < 1 || at === entry.length - 1 || field === undefined) {
      const near = at < 1 ? null : nearestName(written, COLUMN_FIELDS);
      const hint =
        near === null ? `FIELD is one of ${COLUMN_FIELDS.join(", ")}` : `the nearest is ${near}`;
      throw wrongUse(`--columns: expected FIELD=COLUMN, seen ${JSON.stringify(entry)}; ${hint}`);
    }
    columns.set(field, entry.slice(at + 1));
  }
  return columns;
}
