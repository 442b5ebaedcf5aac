/**
 * In: results to compare. Out: nothing, or why they must not be: a field in which they differ. Models and modes may
 * differ, that is what is compared; what a mode does not share with the other is held against its own kind only.
 */
import { wrongUse } from "../person-error.ts";
import type { EvalResults } from "./read-results.ts";

const SAME = ["dataset", "val_n", "temperature", "top_p", "top_k", "problems"] as const;
/** Ours; a file of others may not tell. */
const SAME_WHERE_TOLD = ["seed", "grader", "data_sha256"] as const;
const SAME_IN_A_MODE = [
  "prompt_sha256",
  "tool_sha256",
  "max_code_calls",
  "max_assistant_turns",
  "max_trajectory_tokens",
  "max_assistant_tokens",
  "max_tool_response_tokens",
] as const;

export function checkSettings(results: readonly EvalResults[]): void {
  const [first, ...others] = results;
  if (first === undefined) return;
  for (const other of others) {
    for (const field of SAME) refuseOther(first, other, field);
    for (const field of SAME_WHERE_TOLD) refuseWhereTold(first, other, field);
    checkProblems(first, other);
  }
  for (const [, own] of Map.groupBy(results, ({ summary }) => summary.mode)) {
    const [one, ...rest] = own;
    for (const other of rest) {
      for (const field of SAME_IN_A_MODE) if (one !== undefined) refuseWhereTold(one, other, field);
    }
  }
}

/** Paired line by line: one order, one wording. */
function checkProblems(a: EvalResults, b: EvalResults): void {
  const at = a.problems.findIndex((problem, i) => {
    const other = b.problems[i];
    return problem.problem_id !== other?.problem_id || problem.ground_truth !== other.ground_truth;
  });
  if (at === -1) return;
  throw wrongUse(
    `Problem ${at + 1} is ${a.problems[at]?.problem_id} in ${a.path} and ${b.problems[at]?.problem_id} in ${b.path}: ` +
      "results of other problems, or in another order, cannot be compared",
  );
}

function refuseWhereTold(a: EvalResults, b: EvalResults, field: string): void {
  if (a.summary[field] !== undefined && b.summary[field] !== undefined) refuseOther(a, b, field);
}

function refuseOther(a: EvalResults, b: EvalResults, field: string): void {
  const [one, two] = [a.summary[field], b.summary[field]];
  if (one === two) return;
  throw wrongUse(
    `${field} is ${show(one)} in ${a.path} and ${show(two)} in ${b.path}: ` +
      `results of different settings are not compared; evaluate one of them again with the same ${SETTINGS[field] ?? `rollout.${field}`}`,
  );
}

/** What a person says it with; the others are budgets, by their own name. */
const SETTINGS: Readonly<Record<string, string>> = {
  dataset: "data set (--dataset, --data)",
  problems: "number of problems (--limit)",
  data_sha256: "problems (--data)",
  val_n: "--val-n",
  temperature: "eval.temperature",
  top_p: "eval.top_p",
  top_k: "eval.top_k",
  seed: "--seed",
  grader: "grading.grader",
  prompt_sha256: "protocol.system_prompt",
  tool_sha256: "protocol.tool_description_file",
};

/** A hash by its first letters. */
function show(value: unknown): string {
  const text = JSON.stringify(value) ?? "not told";
  return /^"[0-9a-f]{64}"$/.test(text) ? `${text.slice(1, 13)}…` : text;
}
