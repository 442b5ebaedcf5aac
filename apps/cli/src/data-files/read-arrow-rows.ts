/** In: the bytes of an Arrow file or stream. Out: its rows as plain objects, nested values included. */
import { checkArrowLengths, checkOffsets } from "@interlace/train-bridge";
import { tableFromIPC, Vector } from "apache-arrow";

/** Throws on what is no Arrow, or is compressed in a way that the library cannot read. */
export function* readArrowRows(bytes: Uint8Array): Generator {
  checkArrowLengths(bytes);
  const table = tableFromIPC(bytes);
  for (const batch of table.batches) checkOffsets(batch);
  for (const row of table) yield plain(row);
}

function plain(value: unknown): unknown {
  if (value instanceof Vector) return [...value].map(plain);
  if (typeof value !== "object" || value === null) return value;
  const { toJSON } = value as { readonly toJSON?: () => unknown };
  const fields = typeof toJSON === "function" ? toJSON.call(value) : value;
  if (typeof fields !== "object" || fields === null || Array.isArray(fields)) return fields;
  return Object.fromEntries(Object.entries(fields).map(([name, each]) => [name, plain(each)]));
}
