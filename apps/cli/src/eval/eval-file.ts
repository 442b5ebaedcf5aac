/**
 * The results on disk. In: problem lines as they come. Out: a file that holds every one of them at any time, in the
 * data set's order and with its summary when all are there. A line that a crash cut off is asked again.
 */
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  truncateSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { writeAtomic } from "@interlace/train-bridge";
import { z } from "zod";
import { messageOf, workFailed, wrongUse } from "../person-error.ts";
import { ownProblemLineSchema, type ProblemLine } from "./problem-line.ts";
import type { SummaryLine } from "./summary-line.ts";

export type RecordedEval = {
  readonly lines: readonly ProblemLine[];
  /** What stands before a summary or a torn line. */
  readonly bytes: number;
};

export type EvalFile = Disposable & {
  append(line: ProblemLine): void;
  /** Replaces the file by the same lines in order, and the summary. */
  finish(lines: readonly ProblemLine[], summary: SummaryLine): Promise<void>;
};

/** No file is no lines. Throws a PersonError when it was made with other settings, or is damaged. */
export function readEvalFile(path: string, configHash: string): RecordedEval {
  if (!existsSync(path)) return { lines: [], bytes: 0 };
  const content = readFileSync(path);
  const whole = content.subarray(0, content.lastIndexOf(0x0a) + 1);
  const lines: ProblemLine[] = [];
  let bytes = 0;
  for (const [i, text] of whole.toString("utf8").split("\n").slice(0, -1).entries()) {
    const json = parseJson(path, i + 1, text);
    if (isSummary(json)) break;
    lines.push(parseLine(path, i + 1, json, configHash));
    bytes += Buffer.byteLength(text) + 1;
  }
  return { lines, bytes };
}

/** Leaves these lines and no others in the file, at once; returns its bytes. */
export async function rewriteEvalFile(path: string, lines: Iterable<ProblemLine>): Promise<number> {
  try {
    return await writeAtomic(path, [encodeLines(lines)]);
  } catch (error) {
    throw workFailed(messageOf(error), error);
  }
}

/** Goes on after `bytes`. */
export function openEvalFile(path: string, bytes: number): EvalFile {
  let fd: number;
  try {
    mkdirSync(dirname(path), { recursive: true });
    fd = openSync(path, "a");
    truncateSync(path, bytes);
  } catch (error) {
    throw cannotWrite(path, error);
  }
  return {
    append(line) {
      const content = Buffer.from(`${JSON.stringify(line)}\n`);
      try {
        for (let at = 0; at < content.length;) at += writeSync(fd, content, at);
      } catch (error) {
        throw cannotWrite(path, error);
      }
    },
    async finish(lines, summary) {
      try {
        await writeAtomic(path, [encodeLines([...lines, summary])]);
      } catch (error) {
        throw workFailed(messageOf(error), error);
      }
    },
    [Symbol.dispose]: () => closeSync(fd),
  };
}

function encodeLines(lines: Iterable<object>): readonly Uint8Array[] {
  const encoder = new TextEncoder();
  return Array.from(lines, (line) => encoder.encode(`${JSON.stringify(line)}\n`));
}

function parseJson(path: string, number: number, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw wrongUse(`${path}, line ${number} is no JSON: ${messageOf(error)}; name another --out`);
  }
}

function parseLine(path: string, number: number, json: unknown, configHash: string): ProblemLine {
  const read = ownProblemLineSchema.safeParse(json);
  if (!read.success) {
    throw wrongUse(
      `${path}, line ${number} is no problem of an evaluation: ${z.prettifyError(read.error)}; name another --out`,
    );
  }
  const { config_hash: seen } = read.data;
  if (seen === configHash) return read.data;
  throw wrongUse(
    `${path} was made with other settings, data or weights (configuration ${seen.slice(0, 12)}, ` +
      `now ${configHash.slice(0, 12)}): name another --out, or remove the file`,
  );
}

function isSummary(json: unknown): boolean {
  return typeof json === "object" && json !== null && "type" in json && json.type === "summary";
}

function cannotWrite(path: string, error: unknown): Error {
  return workFailed(`Cannot write ${path}: ${messageOf(error)}`, error);
}
