/**
 * The evaluation of one checkpoint: problems that have no line yet are rolled out, each line is written as its problem
 * ends. In: what was opened, and a path. Out: the summary, or why it is not whole. Seeds follow the problem's place in
 * the data set, so neither chunks nor concurrency change an answer.
 */
import { createFailureBudget, isGraded, rollout, type Termination } from "@interlace/core";
import { workFailed, wrongUse } from "../person-error.ts";
import { tellFirstLosses } from "../rollout/first-losses.ts";
import {
  findGradingLoss,
  gradeOf,
  type Graded,
  type GradingLoss,
} from "../rollout/grading-loss.ts";
import { lockFile } from "../run-folder/run-lock.ts";
import { formatCount, formatCounts, formatPlural } from "../terminal/format.ts";
import { startProgress } from "../terminal/progress.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { openEvalFile, readEvalFile, rewriteEvalFile } from "./eval-file.ts";
import type { OpenedEval } from "./open-eval.ts";
import { problemLine, type ProblemLine } from "./problem-line.ts";
import { summaryLine, type SummaryLine } from "./summary-line.ts";

export type EvalRun = {
  readonly path: string;
  readonly retryFailed: boolean;
  readonly signal: AbortSignal;
  readonly terminal: Terminal;
};

export type EvalEnd =
  | {
      readonly end: "complete";
      readonly summary: SummaryLine;
      /** null = the grader decided on something. */
      readonly ungraded: GradingLoss | null;
    }
  | { readonly end: "interrupted"; readonly done: number };

/** Throws a PersonError when more is lost to infrastructure than `run.max_failed_fraction` allows. */
export async function runEval(opened: OpenedEval, run: EvalRun): Promise<EvalEnd> {
  const { problems, facts, config } = opened;
  using held = new DisposableStack();
  held.use(lockFile(run.path));
  const recorded = readEvalFile(run.path, facts);
  const lines = indexLines(recorded.lines, run, problems.length);
  if (recorded.lines.length > 0) {
    run.terminal.note(
      `interlace: ${run.path} holds ${formatCount(lines.size)} of ${formatPlural(problems.length, "problem")}; going on`,
    );
  }
  // Lines that are asked again must go before anything is added.
  const isKept = lines.size === recorded.lines.length;
  const bytes = isKept ? recorded.bytes : await rewriteEvalFile(run.path, lines.values());
  const isTold = isKept && recorded.isTold;
  const file = held.use(openEvalFile(run.path, bytes, isTold ? null : facts));

  const missing = problems.flatMap((_, question) => (lines.has(question) ? [] : [question]));
  const { valN } = facts;
  const budget = createFailureBudget(config.run, () => problems.length * valN);
  const progress = startProgress(
    run.terminal,
    facts.checkpoint,
    missing.length * valN,
    performance.now.bind(performance),
  );
  /** The grader's first words of each reason; lines keep the reason only. */
  const words = new Map<string, string>();
  const tellLoss = tellFirstLosses((line) => run.terminal.note(`interlace: ${line}`));
  const stream = rollout(
    opened.plan,
    missing.flatMap((question) => problems[question] ?? []),
    opened.ports,
    {
      questionIndex: (position) => missing[position] ?? NaN,
      maxOpenGroups: config.eval.concurrency,
      vocabSize: opened.vocabSize,
      signal: AbortSignal.any([run.signal, budget.signal]),
      onSettled: (_, member) => {
        tellLoss(member);
        const { unscored } = gradeOf(member);
        if (unscored !== null && !words.has(unscored.reason)) {
          words.set(unscored.reason, unscored.detail);
        }
        if (isGraded(member)) progress.settled(member);
        budget.settled(member);
      },
      onWarning: (message) => run.terminal.note(`interlace: ${message}`),
    },
  );
  for await (const group of stream) {
    const line = problemLine(group, opened.plan.protocol, facts.configHash);
    lines.set(group.question, line);
    file.append(line);
  }
  progress.end();
  if (budget.isOver()) {
    throw workFailed(
      `${formatPlural(budget.lost(), "generation")} of ${formatCount(problems.length * valN)} were lost ` +
        `(${formatCounts(Object.fromEntries(budget.failures))}), more than run.max_failed_fraction allows; ` +
        `when the cause is mended, the same command with --retry-failed goes on`,
    );
  }
  if (lines.size < problems.length) return { end: "interrupted", done: lines.size };
  const ordered = [...lines].sort(([a], [b]) => a - b).map(([, line]) => line);
  const summary = summaryLine(ordered, facts);
  await file.finish(ordered, summary);
  const ungraded = findGradingLoss(ordered.flatMap((line) => gradesOf(line, words)));
  return { end: "complete", summary, ungraded };
}

/** `words`: by reason. */
function gradesOf({ generations }: ProblemLine, words: Map<string, string>): readonly Graded[] {
  return generations.map(({ graded_by: by, unscored: reason, termination }) => ({
    by,
    unscored:
      reason === null || LOST.has(termination) ? null : { reason, detail: words.get(reason) ?? "" },
  }));
}

/** Ends before a grader is asked. */
const LOST: ReadonlySet<string> = new Set<Termination>([
  "sampler_failed",
  "tool_failed",
  "aborted",
]);

function indexLines(
  recorded: readonly ProblemLine[],
  { path, retryFailed }: EvalRun,
  problems: number,
): Map<number, ProblemLine> {
  const lines = new Map<number, ProblemLine>();
  for (const line of recorded) {
    if (line.question_index >= problems) {
      throw wrongUse(
        `${path} holds problem ${line.question_index}, this evaluation has ${problems}: raise --limit, or name another --out`,
      );
    }
    if (retryFailed && line.num_unscored > 0) continue;
    lines.set(line.question_index, line);
  }
  return lines;
}
