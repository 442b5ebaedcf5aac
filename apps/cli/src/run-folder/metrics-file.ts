/** `metrics.jsonl`: one line a step, appended when all other files of the step are written: a step's full stop. */
import {
  openSync,
  closeSync,
  fsyncSync,
  truncateSync,
  writeSync,
  existsSync,
  readFileSync,
} from "node:fs";
import type { Metrics } from "@interlace/core";
import { messageOf, workFailed } from "../person-error.ts";

export type MetricsLine = { readonly step: number } & Metrics;

/** Lines that are whole; a torn last one is cut off, its step is written again. Throws on any other damage. */
export function recoverMetrics(path: string): readonly MetricsLine[] {
  const { lines, wholeBytes, bytes } = readMetrics(path);
  if (wholeBytes < bytes) {
    try {
      truncateSync(path, wholeBytes);
    } catch (error) {
      throw workFailed(`Cannot write ${path}: ${messageOf(error)}`, error);
    }
  }
  return lines;
}

export type ReadMetrics = {
  readonly lines: readonly MetricsLine[];
  /** Up to and with the last line break; what follows is a torn line. */
  readonly wholeBytes: number;
  readonly bytes: number;
};

/** Changes nothing. No file is no lines. Throws on a whole line that is damaged. */
export function readMetrics(path: string): ReadMetrics {
  if (!existsSync(path)) return { lines: [], wholeBytes: 0, bytes: 0 };
  const bytes = readFileSync(path);
  const wholeBytes = bytes.lastIndexOf(0x0a) + 1;
  const texts = bytes.subarray(0, wholeBytes).toString("utf8").split("\n").slice(0, -1);
  const lines = texts.map((line, i) => {
    try {
      const read = JSON.parse(line) as MetricsLine;
      if (read.step === i) return read;
      throw new Error(`expected step ${i}, seen ${read.step}`);
    } catch (error) {
      throw workFailed(`${path}, line ${i + 1} is damaged: ${messageOf(error)}`, error);
    }
  });
  return { lines, wholeBytes, bytes: bytes.length };
}

/** On the disk itself when it returns. */
export function appendMetrics(path: string, line: MetricsLine): void {
  const bytes = Buffer.from(`${JSON.stringify(line)}\n`, "utf8");
  try {
    const fd = openSync(path, "a");
    try {
      for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    throw workFailed(`Cannot write ${path}: ${messageOf(error)}`, error);
  }
}
