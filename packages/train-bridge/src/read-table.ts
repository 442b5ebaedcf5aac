/**
 * In: a path or the bytes of an Arrow file or stream. Out: its metadata and record batches; columns are views.
 * Refuses a table that is not ours, a higher major version, and bytes that end too early.
 */
import { RecordBatchReader, type RecordBatch } from "apache-arrow";
import { checkArrowLengths, checkOffsets } from "./check-lengths.ts";
import { metadataFromMap, type TableMetadata } from "./metadata.ts";
import { columnNames, type TableName } from "./schema.ts";

/** A path is mapped into memory, so only what is looked at is read. */
export type TableSource = string | Uint8Array;

export type OpenTable = {
  readonly metadata: TableMetadata;
  readonly batches: readonly RecordBatch[];
};

const FILE_MAGIC = "ARROW1";

export function openTable(source: TableSource, table: TableName): OpenTable {
  const where = typeof source === "string" ? source : "Arrow data";
  const bytes = typeof source === "string" ? mapFile(source) : source;
  checkEnd(bytes, where);
  checkArrowLengths(bytes);
  const reader = RecordBatchReader.from(bytes).open();
  const metadata = metadataFromMap(reader.schema.metadata, table, where);
  const missing = columnNames(table).filter((name) => !reader.schema.names.includes(name));
  if (missing.length > 0) {
    throw new Error(`${where}: expected the columns ${missing.join(", ")}, got none of that name`);
  }
  const batches = [...reader];
  for (const batch of batches) checkOffsets(batch);
  const rows = batches.reduce((sum, { numRows }) => sum + numRows, 0);
  if (rows !== metadata.rows) {
    throw new Error(`${where}: expected ${metadata.rows} rows, as its metadata says, got ${rows}`);
  }
  return { metadata, batches };
}

function mapFile(path: string): Uint8Array {
  if (Bun.file(path).size === 0)
    throw new Error(`${path}: expected Arrow data, got no such file or an empty one`);
  return Bun.mmap(path);
}

/** A file must end with its magic, a stream with its end marker; the library itself takes what it gets. */
function checkEnd(bytes: Uint8Array, where: string): void {
  const isFile = textAt(bytes, 0) === FILE_MAGIC;
  const end = bytes.subarray(-8);
  const isWhole = isFile
    ? textAt(bytes, bytes.length - FILE_MAGIC.length) === FILE_MAGIC
    : end.length === 8 && end.every((byte, i) => byte === (i < 4 ? 0xff : 0));
  if (!isWhole) {
    throw new Error(
      `${where}: expected a whole Arrow ${isFile ? "file" : "file or stream"}, got ${bytes.length} bytes without its end`,
    );
  }
}

function textAt(bytes: Uint8Array, start: number): string {
  return new TextDecoder().decode(
    bytes.subarray(Math.max(0, start), Math.max(0, start) + FILE_MAGIC.length),
  );
}
