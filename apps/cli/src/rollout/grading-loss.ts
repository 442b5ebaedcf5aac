/**
 * Whether a grader failed on everything that it was asked: then there is nothing to learn from, however whole the files
 * are. In: grades. Out: the first failure and their number, or null. An answer without a box is judged without asking.
 */
import { failureName, isGraded, type Member } from "@interlace/core";

/** One trajectory's grade: who decided, or why nobody did; both null = it was lost before. */
export type Graded = {
  readonly by: string | null;
  readonly unscored: { readonly reason: string; readonly detail: string } | null;
};

export type GradingLoss = {
  /** Trajectories that the grader was asked about. */
  readonly asked: number;
  /** `grader:timeout`, of the first. */
  readonly cause: string;
  /** Its own words; empty = they are not kept. */
  readonly detail: string;
};

export function gradeOf(member: Member): Graded {
  if (!isGraded(member) || member.failure !== null) return { by: null, unscored: null };
  const { grade } = member.phase;
  return grade.kind === "unscored"
    ? { by: null, unscored: grade }
    : { by: grade.by, unscored: null };
}

/** A grader that only cannot decide has failed where nothing at all is scored. */
export function findGradingLoss(grades: readonly Graded[]): GradingLoss | null {
  const failed = grades.flatMap(({ unscored }) => unscored ?? []);
  const [first] = failed;
  if (first === undefined || grades.some(({ by }) => by !== null && by !== "format")) return null;
  const isScored = grades.some(({ by }) => by !== null);
  if (isScored && failed.every(({ reason }) => reason === "undecided")) return null;
  const cause = failureName({ boundary: "grader", cause: first.reason });
  return { asked: failed.length, cause, detail: first.detail };
}

/** Of a run: null = a step of it is not lost, or there is none. */
export function sumGradingLosses(steps: readonly (GradingLoss | null)[]): GradingLoss | null {
  const losses = steps.filter((step) => step !== null);
  const [first] = losses;
  if (first === undefined || losses.length < steps.length) return null;
  return { ...first, asked: losses.reduce((sum, { asked }) => sum + asked, 0) };
}

/** One line, without what to do. */
export function describeGradingLoss({ asked, cause, detail }: GradingLoss): string {
  const words = detail.replaceAll(/\s+/g, " ").trim();
  return (
    `the grader gave no verdict on any of ${asked} that it was asked about; the first: ${cause}` +
    (words === "" ? "" : `: ${words}`)
  );
}
