/**
 * In: files of finished evaluations. Out: their problems and summaries. Reads what others wrote in the described layout
 * too: fields of our own may be missing. Refuses by file and line what is no result.
 */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { z } from "zod";
import { problemLineSchema } from "../eval/problem-line.ts";
import { summaryLineSchema, type SummaryLine } from "../eval/summary-line.ts";
import { messageOf, wrongUse } from "../person-error.ts";

export type ComparedProblem = z.output<typeof problemLineSchema>;

export type EvalResults = {
  readonly path: string;
  readonly problems: readonly ComparedProblem[];
  readonly summary: SummaryLine;
};

/** Throws a PersonError. */
export function readResults(path: string): EvalResults {
  if (!existsSync(path))
    throw wrongUse(`There is no file ${path}: name the JSONL of an evaluation`);
  if (statSync(path).isDirectory()) throw wrongUse(describeFolder(path));
  const problems: ComparedProblem[] = [];
  let summary: SummaryLine | null = null;
  for (const [i, text] of readFileSync(path, "utf8").split("\n").entries()) {
    if (text.trim() === "") continue;
    const at = `${path}, line ${i + 1}`;
    const json = parseJson(at, text);
    if (summary !== null) throw wrongUse(`${at}: expected nothing after the summary`);
    const type =
      typeof json === "object" && json !== null && "type" in json ? json.type : undefined;
    // Of an evaluation that is not at its end.
    if (type === "asked") continue;
    if (type === "problem") problems.push(parse(at, problemLineSchema, json));
    else if (type === "summary") summary = parse(at, summaryLineSchema, json);
    else throw wrongUse(`${at}: expected type problem or summary, seen ${JSON.stringify(type)}`);
  }
  if (summary === null) {
    throw wrongUse(
      `${path} has no summary: its evaluation did not end (${problems.length} problems are in it); ` +
        "give its command again, it goes on",
    );
  }
  if (summary.problems !== problems.length) {
    throw wrongUse(
      `${path} holds ${problems.length} problems, its summary says ${summary.problems}: lines are missing`,
    );
  }
  return { path, problems, summary };
}

/** A folder is no result; what a person may have meant by it. */
function describeFolder(path: string): string {
  const files = readdirSync(path)
    .filter((name) => name.endsWith(".jsonl"))
    .toSorted()
    .map((name) => join(path, name));
  const shown = files.slice(0, SHOWN_FILES).join(", ");
  const more = files.length > SHOWN_FILES ? ` and ${files.length - SHOWN_FILES} more` : "";
  return files.length === 0
    ? `${path} is a folder and no results file, and no .jsonl file is in it: name the JSONL of an evaluation`
    : `${path} is a folder and no results file: name one of ${shown}${more}`;
}

const SHOWN_FILES = 20;

function parseJson(at: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw wrongUse(`${at} is no JSON: ${messageOf(error)}`, error);
  }
}

function parse<T>(at: string, schema: z.ZodType<T>, json: unknown): T {
  const read = schema.safeParse(json);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw wrongUse(
    `${at}: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? "unreadable"}`,
    read.error,
  );
}
