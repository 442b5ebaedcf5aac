/**
 * In: a log file. Out: its events in order, their clock times, and how far the file is whole.
 * One torn last line – a write that a crash cut – is left out; any other damage is refused with file and line.
 */
import { open, type FileHandle } from "node:fs/promises";
import type { Event } from "@interlace/core";
import { messageOf, PersonError, workFailed } from "../person-error.ts";
import type { AnswerTimes } from "./file-event-log.ts";
import { answerName, LOG_VERSION, parseLogLine, type LogLine, type Mark } from "./log-line.ts";

export type RecordedLog = {
  /** What counts: without the answers that a retry dropped. */
  readonly events: readonly Event[];
  readonly times: ReadonlyMap<string, AnswerTimes>;
  readonly marks: readonly Mark[];
  /** Whole lines, and the bytes that they take. */
  readonly lines: number;
  readonly bytes: number;
  /** Bytes of a torn last line; 0 = the file is whole. */
  readonly tornBytes: number;
};

const NEWLINE = 0x0a;
const CHUNK_BYTES = 1 << 20;

export async function readEventLog(path: string): Promise<RecordedLog> {
  const events = new Map<string, Event>();
  const times = new Map<string, AnswerTimes>();
  const marks: Mark[] = [];
  let lines = 0;
  let bytes = 0;
  let tornBytes = 0;
  for await (const { content, isWhole } of splitLines(path)) {
    if (!isWhole) {
      tornBytes = content.length;
      break;
    }
    const line = parseAt(path, lines, content);
    lines += 1;
    bytes += content.length + 1;
    if (line.mark !== null) {
      marks.push(line.mark);
      if (line.mark.type === "dropped") for (const name of line.mark.answers) events.delete(name);
      continue;
    }
    const name = answerName(line.event);
    if (events.has(name)) throw damaged(path, lines, `a second answer ${name}`);
    events.set(name, line.event);
    times.set(name, { started: line.started, ended: line.time });
  }
  return { events: [...events.values()], times, marks, lines, bytes, tornBytes };
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function parseAt(path: string, index: number, content: Uint8Array): LogLine {
  let line: LogLine;
  try {
    const json = JSON.parse(utf8.decode(content)) as unknown;
    refuseNewer(path, json);
    line = parseLogLine(json);
  } catch (error) {
    if (error instanceof PersonError) throw error;
    throw damaged(path, index + 1, describe(error), error);
  }
  if (line.seq !== index) {
    throw damaged(path, index + 1, `expected seq ${index}, seen ${line.seq}: lines are missing`);
  }
  return line;
}

function refuseNewer(path: string, json: unknown): void {
  const v = (json as { readonly v?: unknown } | null)?.v;
  if (typeof v !== "number" || v <= LOG_VERSION) return;
  throw workFailed(
    `${path} has format ${v}, this version reads ${LOG_VERSION}: use the Interlace that wrote it (versions in run.json)`,
  );
}

function describe(error: unknown): string {
  const issues = (error as { readonly issues?: readonly { path: unknown[]; message: string }[] })
    .issues;
  const first = issues?.[0];
  if (first === undefined) return messageOf(error);
  return `${first.path.join(".") || "the line"}: ${first.message}`;
}

function damaged(path: string, line: number, what: string, cause?: unknown): Error {
  return workFailed(
    `${path}, line ${line} is damaged: ${what}; restore the file, or start a new run`,
    cause,
  );
}

type RawLine = { readonly content: Uint8Array; readonly isWhole: boolean };

/** Split on `\n` only: texts may hold every other line break that Unicode has. */
async function* splitLines(path: string): AsyncGenerator<RawLine> {
  const file = await openLog(path);
  try {
    let parts: Uint8Array[] = [];
    for (;;) {
      const { bytesRead, buffer } = await file.read(new Uint8Array(CHUNK_BYTES), 0, CHUNK_BYTES);
      if (bytesRead === 0) break;
      let from = 0;
      const chunk = buffer.subarray(0, bytesRead);
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
        parts.push(chunk.subarray(from, at));
        yield { content: joinParts(parts), isWhole: true };
        parts = [];
        from = at + 1;
      }
      if (from < chunk.length) parts.push(chunk.subarray(from));
    }
    if (parts.length > 0) yield { content: joinParts(parts), isWhole: false };
  } finally {
    await file.close();
  }
}

async function openLog(path: string): Promise<FileHandle> {
  try {
    return await open(path, "r");
  } catch (error) {
    throw workFailed(`Cannot read ${path}: ${messageOf(error)}; restore the file`, error);
  }
}

function joinParts(parts: readonly Uint8Array[]): Uint8Array {
  return parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts);
}
