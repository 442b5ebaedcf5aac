/** In: the bytes of an Arrow file or stream. Out: its rows as plain objects, nested values included. */
import { checkArrowLengths, checkOffsets } from "@interlace/train-bridge";
import { tableFromIPC, Vector, type Table } from "apache-arrow";
import { messageOf } from "../person-error.ts";

/** Throws on what is no Arrow, or is compressed in a way that the library cannot read. */
export function* readArrowRows(bytes: Uint8Array): Generator {
  checkArrowLengths(bytes);
  const table = readTable(bytes);
  for (const batch of table.batches) checkOffsets(batch);
  for (const row of table) yield plain(row);
}

/**
 * The library's words for compression say nothing of what to do. It is the default of pandas' `to_feather`, also
 * with `compression=None`; "uncompressed" is understood by pandas and by polars.
 */
function readTable(bytes: Uint8Array): Table {
  try {
    return tableFromIPC(bytes);
  } catch (error) {
    const message = messageOf(error);
    if (!/\bcompress/i.test(message)) throw error;
    throw new Error(
      `expected uncompressed Arrow data, seen compressed (${message}); ` +
        `write it uncompressed (compression="uncompressed"), or as Parquet`,
      { cause: error },
    );
  }
}

function plain(value: unknown): unknown {
  if (value instanceof Vector) return [...value].map(plain);
  if (typeof value !== "object" || value === null) return value;
  const { toJSON } = value as { readonly toJSON?: () => unknown };
  const fields = typeof toJSON === "function" ? toJSON.call(value) : value;
  if (typeof fields !== "object" || fields === null || Array.isArray(fields)) return fields;
  return Object.fromEntries(Object.entries(fields).map(([name, each]) => [name, plain(each)]));
}
