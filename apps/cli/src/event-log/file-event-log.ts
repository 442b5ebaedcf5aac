/**
 * The event log on disk: core's `EventLog` over one append-only file.
 * In: events and marks. Out: lines, in order. A line that could not be written whole is taken back, so that
 * a full disk leaves a log that can be resumed. Refuses to know what an event means.
 */
import {
  closeSync,
  fstatSync,
  fsync,
  ftruncateSync,
  openSync,
  truncateSync,
  writeSync,
  type PathLike,
} from "node:fs";
import { promisify } from "node:util";
import type { Command, Event, EventLog } from "@interlace/core";
import { messageOf, workFailed } from "../person-error.ts";
import { eventMembers, membersOf } from "./event-line.ts";
import { answerName, answerNameOf, LOG_VERSION, type Mark } from "./log-line.ts";

const NEWLINE = 0x0a;

/** Bytes that wait to be written; where there is no room for a line, `append` writes itself. */
const BLOCK_BYTES = 1 << 20;
/** Of UTF-8, for one unit of UTF-16. */
const MAX_UNIT_BYTES = 3;

export type AnswerTimes = { readonly started: number; readonly ended: number };

export interface FileEventLog extends EventLog, AsyncDisposable {
  /** Remembers when a command was issued: its answer's line will tell. */
  issued(command: Command): void;
  mark(mark: Mark): void;
  /** Clock times of every answer, recorded or new, by `answerName`. */
  readonly times: ReadonlyMap<string, AnswerTimes>;
  /** Everything is on the disk itself. Rejects when it is not. */
  sync(): Promise<void>;
}

export type FileEventLogOptions = {
  /** Where to go on in an existing file; null = a new one. */
  readonly from: { readonly bytes: number; readonly lines: number } | null;
  readonly times?: ReadonlyMap<string, AnswerTimes>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
};

const syncFile = promisify(fsync);

/** Throws a PersonError when the file cannot be opened, or exists although a new one was asked for. */
export function openFileEventLog(path: string, options: FileEventLogOptions): FileEventLog {
  const { from, now } = options;
  const fd = openForAppend(path, from?.bytes ?? null);
  const starts = new Map<string, number>();
  const times = new Map(options.times);
  let written = from?.bytes ?? 0;
  let seq = from?.lines ?? 0;
  let block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  let filled = 0;
  let isScheduled = false;
  let isOpen = true;
  let broken: Error | null = null;

  function drain(): void {
    isScheduled = false;
    const bytes = block.subarray(0, filled);
    filled = 0;
    if (broken !== null || bytes.length === 0) return;
    let at = 0;
    try {
      while (at < bytes.length) at += writeSync(fd, bytes, at);
      written += bytes.length;
    } catch (error) {
      broken = cannotWrite(path, error);
      // Lines that are whole count; what follows them is taken back.
      takeBack(fd, written + bytes.subarray(0, at).lastIndexOf(NEWLINE) + 1);
    }
  }

  function write(members: string, t: number, started: number | null): void {
    if (broken !== null) throw broken;
    const begun = started === null ? "" : `"started":${started},`;
    const line = `{"v":${LOG_VERSION},"seq":${seq++},"t":${t},${begun}${members}}\n`;
    const most = MAX_UNIT_BYTES * line.length;
    if (filled + most > block.length) drain();
    if (most > block.length) block = Buffer.allocUnsafeSlow(most);
    filled += block.write(line, filled, "utf8");
    if (isScheduled) return;
    // One write for all answers of this turn of the event loop.
    isScheduled = true;
    setImmediate(drain);
  }

  async function flush(): Promise<void> {
    drain();
    if (broken !== null) throw broken;
  }

  return {
    times,
    issued(command) {
      starts.set(answerNameOf(command), now());
    },
    append(event: Event) {
      const name = answerName(event);
      const started = starts.get(name) ?? now();
      // A clock that was set back must not make an answer older than its question.
      const ended = Math.max(started, now());
      starts.delete(name);
      times.set(name, { started, ended });
      write(eventMembers(event), ended, started);
    },
    mark(mark) {
      write(membersOf(mark), now(), null);
    },
    flush,
    async sync() {
      await flush();
      if (fstatSync(fd).nlink === 0) throw wasDeleted(path);
      try {
        await syncFile(fd);
      } catch (error) {
        throw cannotWrite(path, error);
      }
    },
    async [Symbol.asyncDispose]() {
      if (!isOpen) return;
      isOpen = false;
      drain();
      closeSync(fd);
    },
  };
}

/** Shortening needs no space; where even that fails, the reader leaves the torn line out. */
function takeBack(fd: number, bytes: number): void {
  try {
    ftruncateSync(fd, bytes);
  } catch {
    // The first error is the one to tell.
  }
}

function openForAppend(path: string, bytes: number | null): number {
  try {
    if (bytes === null) return openSync(path, "ax");
    truncateSync(path, bytes);
    return openSync(path, "a");
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

function wasDeleted(path: string): Error {
  return workFailed(
    `${path} was deleted while it was written, and its answers with it; nothing is exported from what is not recorded: resume rolls the step out again`,
  );
}

function cannotWrite(path: PathLike, error: unknown): Error {
  return workFailed(
    `Cannot write ${path.toString()}: ${messageOf(error)}; what stands in it can be resumed`,
    error,
  );
}
