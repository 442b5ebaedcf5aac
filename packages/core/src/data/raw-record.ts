/** Where a record stood: lines of a text file count from 1, rows of a table from 1 as well. */
export type RecordPlace = { readonly unit: "line" | "row"; readonly number: number };

/** One record as a reader handed it over, not looked at yet. */
export type RawRecord = { readonly place: RecordPlace; readonly value: unknown };

/** A record that is no problem, and why. The caller adds the file's name. */
export type RefusedRecord = {
  readonly place: RecordPlace;
  /** What is missing or unreadable. */
  readonly part: "record" | "id" | "question" | "answer";
  readonly reason: string;
};

/** `line 3: …`, to stand behind a file's name. */
export function formatRefusal({ place, reason }: RefusedRecord): string {
  return `${place.unit} ${place.number}: ${reason}`;
}

/** Rows of a table (Parquet, CSV, Arrow) as records, numbered from 1. */
export function* tableRecords(rows: Iterable<unknown>): Generator<RawRecord> {
  let number = 0;
  for (const value of rows) yield { place: { unit: "row", number: ++number }, value };
}
