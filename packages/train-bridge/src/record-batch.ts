/** In: the columns of one record batch by name. Out: the batch, in the schema's order. Refuses a missing or uneven one. */
import { makeData, RecordBatch, Struct, type Data, type Schema } from "apache-arrow";

export type Columns = Readonly<Record<string, Data>>;

export function makeRecordBatch(schema: Schema, rows: number, columns: Columns): RecordBatch {
  const children = schema.fields.map(({ name }) => {
    const column = columns[name];
    if (column?.length !== rows) {
      throw new RangeError(`Expected ${rows} values of column ${name}, got ${column?.length}`);
    }
    return column;
  });
  const surplus = Object.keys(columns).filter((name) => !schema.names.includes(name));
  if (surplus.length > 0) throw new RangeError(`Expected no column ${surplus.join(", ")}`);
  const type = new Struct(schema.fields);
  return new RecordBatch(schema, makeData({ type, length: rows, nullCount: 0, children }));
}
