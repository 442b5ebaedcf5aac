/**
 * The results on disk. In: problem lines as they come. Out: a file that holds every one of them at any time, in the
 * data set's order and with its summary when all are there. A line that a crash cut off is asked again. What the
 * evaluation is asked with stands in the summary, and until then in a line of its own.
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
import { describeDifferences, type AskedWith } from "./describe-differences.ts";
import { ownProblemLineSchema, type ProblemLine } from "./problem-line.ts";
import type { EvalFacts, SummaryLine } from "./summary-line.ts";

export type RecordedEval = {
  readonly lines: readonly ProblemLine[];
  /** What stands before a summary or a torn line. */
  readonly bytes: number;
  /** Holds the line of what it is asked with. */
  readonly isTold: boolean;
};

export type EvalFile = Disposable & {
  append(line: ProblemLine): void;
  /** Replaces the file by the same lines in order, and the summary. */
  finish(lines: readonly ProblemLine[], summary: SummaryLine): Promise<void>;
};

/** No file is no lines. Throws a PersonError when it was made with other settings, or is damaged. */
export function readEvalFile(path: string, asked: Asked): RecordedEval {
  if (!existsSync(path)) return { lines: [], bytes: 0, isTold: false };
  const content = readFileSync(path);
  const whole = content.subarray(0, content.lastIndexOf(0x0a) + 1);
  const lines: ProblemLine[] = [];
  let bytes = 0;
  let isTold = false;
  /** By configuration hash. */
  const told = new Map<string, AskedWith>();
  for (const [i, text] of whole.toString("utf8").split("\n").slice(0, -1).entries()) {
    const json = parseJson(path, i + 1, text);
    const own = askedLineSchema.safeParse(json).data;
    if (own !== undefined) told.set(own.config_hash, own.asked_with);
    if (own?.type === "summary" || isSummary(json)) break;
    if (own === undefined) lines.push(parseLine(path, i + 1, json));
    else isTold = true;
    bytes += Buffer.byteLength(text) + 1;
  }
  const other = lines.find((line) => line.config_hash !== asked.configHash)?.config_hash;
  if (other !== undefined) throw otherEvaluation(path, told.get(other), asked);
  return { lines, bytes, isTold };
}

/** What this evaluation is asked with, and its hash. */
export type Asked = Pick<EvalFacts, "configHash" | "askedWith">;

const askedLineSchema = z.looseObject({
  type: z.enum(["asked", "summary"]),
  config_hash: z.string(),
  asked_with: z.record(z.string(), z.unknown()),
});

/** `there`: undefined = the file does not tell. */
function otherEvaluation(path: string, there: AskedWith | undefined, { askedWith }: Asked): Error {
  const differences = there === undefined ? "" : describeDifferences(there, askedWith);
  return wrongUse(
    `${path} was made with other settings, data or weights` +
      (differences === "" ? "" : `: ${differences}`) +
      "; ask with the same, name another --out, or remove the file",
  );
}

/** Leaves these lines and no others in the file, at once; returns its bytes. */
export async function rewriteEvalFile(path: string, lines: Iterable<ProblemLine>): Promise<number> {
  try {
    return await writeAtomic(path, [encodeLines(lines)]);
  } catch (error) {
    throw workFailed(messageOf(error), error);
  }
}

/** Goes on after `bytes`; `asked` is told there, null = it is already. */
export function openEvalFile(path: string, bytes: number, asked: Asked | null): EvalFile {
  let fd: number;
  try {
    mkdirSync(dirname(path), { recursive: true });
    fd = openSync(path, "a");
    truncateSync(path, bytes);
  } catch (error) {
    throw cannotWrite(path, error);
  }
  function append(line: object): void {
    const content = Buffer.from(`${JSON.stringify(line)}\n`);
    try {
      for (let at = 0; at < content.length;) at += writeSync(fd, content, at);
    } catch (error) {
      throw cannotWrite(path, error);
    }
  }
  if (asked !== null) {
    const { configHash: config_hash, askedWith: asked_with } = asked;
    append({ type: "asked", config_hash, asked_with });
  }
  return {
    append,
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

function parseLine(path: string, number: number, json: unknown): ProblemLine {
  const read = ownProblemLineSchema.safeParse(json);
  if (!read.success) {
    throw wrongUse(
      `${path}, line ${number} is no problem of an evaluation: ${z.prettifyError(read.error)}; name another --out`,
    );
  }
  return read.data;
}

function isSummary(json: unknown): boolean {
  return typeof json === "object" && json !== null && "type" in json && json.type === "summary";
}

function cannotWrite(path: string, error: unknown): Error {
  return workFailed(`Cannot write ${path}: ${messageOf(error)}`, error);
}
