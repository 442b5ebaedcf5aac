/** In: the columns of one record batch by name. Out: the batch, in the schema's order. Refuses a missing or uneven one. */
import type { Data, Schema } from "apache-arrow";

export type Columns = Readonly<Record<string, Data>>;

/** Rows of a table. The library's own class copies the schema, every time. */
export type ColumnBatch = {
  readonly rows: number;
  /** In the order of the schema; whole, not slices. */
  readonly columns: readonly Data[];
};

export function makeRecordBatch(schema: Schema, rows: number, columns: Columns): ColumnBatch {
  const names = schema.fields.map(({ name }) => name);
  const ordered = names.map((name) => {
    const column = columns[name];
    if (column?.length !== rows) {
      throw new RangeError(`Expected ${rows} values of column ${name}, got ${column?.length}`);
    }
    return column;
  });
  const surplus = Object.keys(columns).filter((name) => !names.includes(name));
  if (surplus.length > 0) throw new RangeError(`Expected no column ${surplus.join(", ")}`);
  return { rows, columns: ordered };
}
