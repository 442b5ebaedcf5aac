/** In: results that may be compared. Out: a label and figures for each, and paired tests of each against the first. */
import { mcnemarTest, signFlipTest, type PairedTest } from "@interlace/core";
import type { SummaryLine } from "../eval/summary-line.ts";
import type { ComparedProblem, EvalResults } from "./read-results.ts";

export type Figure = {
  readonly value: number;
  /** null = the file does not tell. */
  readonly standardError: number | null;
};

export type ComparedResult = {
  readonly label: string;
  readonly path: string;
  readonly average: Figure;
  readonly pass: Figure;
  readonly format: Figure;
  /** null = the file does not tell. */
  readonly majority: Figure | null;
  readonly unscored: number;
  /** Against the first; null for the first itself. */
  readonly tests: { readonly average: PairedTest; readonly pass: PairedTest } | null;
};

export type Comparison = {
  readonly dataset: string;
  readonly valN: number;
  readonly problems: number;
  readonly results: readonly ComparedResult[];
};

export function compareResults(all: readonly EvalResults[]): Comparison {
  const [first] = all;
  if (first === undefined) throw new Error("Expected at least one result");
  const labels = labelResults(all.map(({ summary }) => summary));
  const { dataset, val_n: valN, problems } = first.summary;
  return {
    dataset,
    valN,
    problems,
    results: all.map(({ path, summary, problems: lines }, i) => ({
      label: labels[i] ?? path,
      path,
      average: figure(summary.average_at_n, summary["average_at_n_se"]),
      pass: figure(summary.pass_at_n, summary["pass_at_n_se"]),
      format: figure(summary.format_rate, summary["format_rate_se"]),
      majority:
        typeof summary["majority_at_n"] === "number"
          ? figure(summary["majority_at_n"], summary["majority_at_n_se"])
          : null,
      unscored: lines.flatMap((line) => line.generations).filter((each) => each.correct === null)
        .length,
      tests: i === 0 ? null : testPaired(first.problems, lines),
    })),
  };
}

/** Problems of which both have a scored generation. */
function testPaired(
  a: readonly ComparedProblem[],
  b: readonly ComparedProblem[],
): NonNullable<ComparedResult["tests"]> {
  const pairs = a.flatMap((problem, i) => {
    const pair = [shareOf(problem), shareOf(b[i])] as const;
    return pair.every(({ total }) => total > 0) ? [pair] : [];
  });
  return {
    average: signFlipTest(pairs),
    pass: mcnemarTest(pairs.map(([one, two]) => [one.correct > 0, two.correct > 0])),
  };
}

function shareOf(problem: ComparedProblem | undefined) {
  const scored = problem?.generations.filter(({ correct }) => correct !== null) ?? [];
  return { correct: scored.filter(({ correct }) => correct).length, total: scored.length };
}

function figure(value: number, error: unknown): Figure {
  return { value, standardError: typeof error === "number" ? error : null };
}

/** What tells results apart: the checkpoint, with its mode where modes differ, and a number where nothing does. */
function labelResults(summaries: readonly SummaryLine[]): readonly string[] {
  const modes = new Set(summaries.map(({ mode }) => mode));
  const names = summaries.map((summary) => {
    const { checkpoint } = summary;
    const name =
      typeof checkpoint === "string" ? checkpoint : (summary.model_path ?? summary.base_model);
    return modes.size > 1 ? `${name} (${summary.mode})` : name;
  });
  return names.map((name, i) => {
    const before = names.slice(0, i).filter((each) => each === name).length;
    return names.filter((each) => each === name).length === 1 ? name : `${name} #${before + 1}`;
  });
}
