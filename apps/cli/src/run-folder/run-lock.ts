/**
 * One process at a time works on a run, or on a file of results. In: its path. Out: a lock that ends with the process, however that
 * ends, because it is SQLite's own file lock: nothing stale is ever left. The owner's name is only for people.
 */
import { Database } from "bun:sqlite";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { messageOf, workFailed, wrongUse } from "../person-error.ts";

/** Throws a PersonError that names the owner when another process holds it. */
export function lockRun(folder: string): Disposable {
  return lock(folder, join(folder, ".lock"), join(folder, ".owner"));
}

/** The same for one file, which need not be there yet; its folder is made. Hidden files beside it hold the lock. */
export function lockFile(file: string): Disposable {
  const hidden = join(dirname(file), `.${basename(file)}`);
  try {
    mkdirSync(dirname(file), { recursive: true });
  } catch (error) {
    throw cannotLock(file, error);
  }
  return lock(file, `${hidden}.lock`, `${hidden}.owner`);
}

function lock(locked: string, path: string, ownerPath: string): Disposable {
  const database = openDatabase(path);
  try {
    database.run("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (!messageOf(error).includes("locked")) throw cannotLock(path, error);
    throw wrongUse(
      `${locked} is in use by ${readOwner(ownerPath)}; wait for it to end, or stop it`,
      error,
    );
  }
  writeOwner(ownerPath);
  return {
    [Symbol.dispose]() {
      // The lock file stays: removing it could hand two processes two locks of one name.
      removeOwner(ownerPath);
      database.close();
    },
  };
}

function openDatabase(path: string): Database {
  try {
    return new Database(path);
  } catch (error) {
    throw cannotLock(path, error);
  }
}

function cannotLock(path: string, error: unknown): Error {
  return workFailed(`Cannot lock ${path}: ${messageOf(error)}`, error);
}

/** A full disk or a read-only folder is told by what has to be written, not by a name for people. */
function writeOwner(path: string): void {
  try {
    writeFileSync(path, `process ${process.pid} on ${hostname()}\n`);
  } catch {
    // The lock holds without it.
  }
}

function removeOwner(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // A folder that has become read-only keeps it; the next owner writes its own.
  }
}

function readOwner(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return "another process";
  }
}
