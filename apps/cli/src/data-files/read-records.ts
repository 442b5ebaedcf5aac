/**
 * In: a data file. Out: its records, one after the other, whatever the format. The name's ending says which.
 * Refuses to know: what a record means.
 */
import { extname } from "node:path";
import { parseJsonl, tableRecords, type RawRecord, type RefusedRecord } from "@interlace/core";
import { messageOf, wrongUse } from "../person-error.ts";
import { withoutStrays } from "./stray-rejections.ts";

export type FileRecords = {
  readonly records: Iterable<RawRecord> | AsyncIterable<RawRecord>;
  /** Lines that could not be read at all. */
  readonly refused: readonly RefusedRecord[];
  readonly blankLines: number;
};

type Reader = (path: string) => Promise<FileRecords>;

const READERS: Readonly<Record<string, Reader>> = {
  ".jsonl": readJsonl,
  ".ndjson": readJsonl,
  ".csv": readCsv,
  ".tsv": readCsv,
  ".parquet": readParquet,
  ".arrow": readArrow,
  ".feather": readArrow,
};

/** What a problem file's name may end in. */
export const FILE_ENDINGS: readonly string[] = Object.keys(READERS);

/** Throws a PersonError on a file that is not there, or whose format is none of ours. */
export async function readRecords(path: string): Promise<FileRecords> {
  const ending = extname(path).toLowerCase();
  const reader = READERS[ending];
  if (reader === undefined) {
    throw wrongUse(
      `${path} ends in ${ending === "" ? "nothing" : ending}: expected ${FILE_ENDINGS.join(", ")}`,
    );
  }
  if (!(await Bun.file(path).exists())) {
    throw wrongUse(`${path} does not exist, or is no file: name a problem file with --data`);
  }
  try {
    return await reader(path);
  } catch (error) {
    throw cannotRead(path, error);
  }
}

export function cannotRead(path: string, error: unknown): Error {
  return wrongUse(`Cannot read ${path}: ${messageOf(error)}`, error);
}

async function readJsonl(path: string): Promise<FileRecords> {
  return parseJsonl(await readUtf8(path));
}

/** Bytes that are no UTF-8 would become other characters without a word: they are refused, with their line. */
async function readUtf8(path: string): Promise<string> {
  const bytes = await Bun.file(path).bytes();
  if (bytes.includes(0)) throw new Error("it holds zero bytes, as UTF-16 does; save it as UTF-8");
  const utf8 = new TextDecoder("utf-8", { fatal: true });
  try {
    return utf8.decode(bytes);
  } catch {
    throw new Error(`line ${findBadLine(bytes)} is no UTF-8; save the file as UTF-8`);
  }
}

/** From 1. A line break is never part of another character, so each line can be looked at by itself. */
function findBadLine(bytes: Uint8Array): number {
  const utf8 = new TextDecoder("utf-8", { fatal: true });
  let line = 1;
  for (let start = 0; start < bytes.length; line++) {
    const end = bytes.indexOf(0x0a, start);
    try {
      utf8.decode(bytes.subarray(start, end === -1 ? bytes.length : end));
    } catch {
      return line;
    }
    start = end === -1 ? bytes.length : end + 1;
  }
  return line;
}

async function readCsv(path: string): Promise<FileRecords> {
  const [{ parse }, { findSeparator }] = await Promise.all([
    import("csv-parse/sync"),
    import("./csv-separator.ts"),
  ]);
  const text = await readUtf8(path);
  const rows: unknown = parse(text, {
    bom: true,
    delimiter: findSeparator(text),
    columns: refuseDoubles,
    skip_empty_lines: true,
  });
  return table(tableRecords(rows as readonly unknown[]));
}

/** Of two columns with one name the last would win without a word. Columns without a name cannot be asked for. */
function refuseDoubles(header: readonly string[]): string[] {
  const double = header.find((name, at) => name !== "" && header.indexOf(name) !== at);
  if (double === undefined) return [...header];
  throw new Error(
    `expected each column's name once in the header, seen ${JSON.stringify(double)} twice; rename or remove one`,
  );
}

/** Row group by row group: the published DAPO file has 1.8 million rows. Smaller slices decode a group again. */
async function readParquet(path: string): Promise<FileRecords> {
  const [{ parquetMetadataAsync, parquetReadObjects }, { compressors }] = await Promise.all([
    import("hyparquet"),
    import("hyparquet-compressors"),
  ]);
  const source = Bun.file(path);
  let reads: Promise<unknown>[] = [];
  const file = {
    byteLength: source.size,
    slice(start: number, end?: number) {
      const bytes = source.slice(start, end).arrayBuffer();
      reads.push(bytes);
      return bytes;
    },
  };
  const metadata = await parquetMetadataAsync(file);
  async function* rows(): AsyncGenerator<RawRecord> {
    let rowStart = 0;
    for (const group of metadata.row_groups) {
      const rowEnd = rowStart + Number(group.num_rows);
      const options = { file, metadata, compressors, rowStart, rowEnd };
      reads = [];
      const read = async () => parquetReadObjects(options);
      const values = await withoutStrays("hyparquet", read, reads);
      for (const value of values) yield { place: { unit: "row", number: ++rowStart }, value };
    }
  }
  return table(rows());
}

async function readArrow(path: string): Promise<FileRecords> {
  const { readArrowRows } = await import("./read-arrow-rows.ts");
  return table(tableRecords(readArrowRows(await Bun.file(path).bytes())));
}

function table(records: FileRecords["records"]): FileRecords {
  return { records, refused: [], blankLines: 0 };
}
