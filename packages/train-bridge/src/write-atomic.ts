/**
 * In: a path and pieces of bytes. Out: a file that is complete or not there at all: temporary name in the same folder,
 * fsync, rename, fsync of the folder. Refuses to know what the bytes mean.
 */
import { open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** Most pieces that one system call takes. */
const MAX_PIECES = 1024;
/**
 * Most bytes that one system call is given. Linux keeps what one call writes in as large blocks of memory as it finds,
 * and above 2 MB the search alone can cost several times the writing.
 */
const MAX_BYTES = 2 ** 20;

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full; free some space or choose another folder",
  EDQUOT: "the quota is used up; free some space or choose another folder",
  EROFS: "the file system is read-only; choose another folder",
  EACCES: "the folder may not be written to; choose another folder or change its rights",
  EPERM: "the folder may not be written to; choose another folder or change its rights",
  ENOENT: "the folder does not exist; make it first",
  ENOTDIR: "a part of the path is no folder",
  EFBIG: "the file is larger than the file system or a limit allows",
};

/**
 * Bytes written. A file of this name is replaced at once; a reader of the old one keeps it.
 * On any error the temporary file is removed, and what was there before is left as it was; a killed process leaves a
 * hidden `.NAME.….tmp`, never a file of the name.
 */
export async function writeAtomic(
  path: string,
  parts: Iterable<readonly Uint8Array[]> | AsyncIterable<readonly Uint8Array[]>,
): Promise<number> {
  const folder = dirname(path);
  const temporary = join(folder, `.${basename(path)}.${process.pid}-${crypto.randomUUID()}.tmp`);
  let bytes = 0;
  try {
    const file = await open(temporary, "wx");
    try {
      for await (const pieces of parts) bytes += await writeAll(file, pieces);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
    await syncFolder(folder);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw explain(path, error);
  }
  return bytes;
}

/** One JSON value and a line break, as `writeAtomic` writes; `indent` is that of `JSON.stringify`. */
export function writeJson(path: string, value: unknown, indent?: number): Promise<number> {
  const json = `${JSON.stringify(value, null, indent)}\n`;
  return writeAtomic(path, [[new TextEncoder().encode(json)]]);
}

/** All of the pieces, however few bytes one call takes. */
export async function writeAll(
  file: { writev(pieces: readonly Uint8Array[]): Promise<{ readonly bytesWritten: number }> },
  pieces: readonly Uint8Array[],
): Promise<number> {
  let total = 0;
  let queue = pieces.filter((piece) => piece.byteLength > 0);
  while (queue.length > 0) {
    const { bytesWritten } = await file.writev(takeBytes(queue));
    total += bytesWritten;
    queue = dropBytes(queue, bytesWritten);
  }
  return total;
}

/** As many as one call should be given; the last one may be cut. */
function takeBytes(pieces: readonly Uint8Array[]): Uint8Array[] {
  const taken: Uint8Array[] = [];
  let left = MAX_BYTES;
  for (const piece of pieces) {
    if (left === 0 || taken.length === MAX_PIECES) break;
    taken.push(piece.byteLength > left ? piece.subarray(0, left) : piece);
    left -= Math.min(left, piece.byteLength);
  }
  return taken;
}

/** What is left after a write that may have stopped in the middle of a piece. */
function dropBytes(pieces: readonly Uint8Array[], bytes: number): Uint8Array[] {
  let left = bytes;
  let index = 0;
  for (; index < pieces.length; index++) {
    const size = pieces[index]?.byteLength ?? 0;
    if (left < size) break;
    left -= size;
  }
  const [first, ...rest] = pieces.slice(index);
  return first === undefined ? [] : [first.subarray(left), ...rest];
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Errors of the file system in words; a bug in what made the bytes stays what it is. */
function explain(path: string, error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string")
    return error;
  const reason = REASONS[error.code];
  if (reason === undefined) return error;
  return new Error(`Could not write ${path}: ${reason} (${error.code})`, {
    cause: error,
  });
}
