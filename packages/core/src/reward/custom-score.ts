/**
 * In: what a user says a trajectory is worth. Out: the score that the advantage is taken of.
 * Refuses to know: how that worth came about. What is not known stays unscored, it is no zero.
 */
import type { GradedMember, Group } from "../rollout/group.ts";
import { scoreGrade, type Score } from "./score.ts";

/** `metrics`: numbers to look at beside the reward; they train nothing. */
export type CustomScore =
  | {
      readonly kind: "scored";
      readonly reward: number;
      readonly metrics?: Readonly<Record<string, number>>;
    }
  | { readonly kind: "unscored"; readonly reason: string };

export type ScoreTrajectory = (member: GradedMember, group: Group) => CustomScore;

/** One of several scores; its metrics are told as `name/…`. */
export type WeightedScore = {
  readonly name: string;
  readonly weight: number;
  readonly score: ScoreTrajectory;
};

/** The weighted sum. One part that is unscored makes the whole unscored: a sum without it would be a lie. */
export function weightScores(parts: readonly WeightedScore[]): ScoreTrajectory {
  return (member, group) => {
    let reward = 0;
    const metrics: Record<string, number> = {};
    for (const { name, weight, score } of parts) {
      const part = score(member, group);
      if (part.kind === "unscored") return { kind: "unscored", reason: `${name}: ${part.reason}` };
      reward += weight * part.reward;
      metrics[`${name}/reward`] = part.reward;
      for (const [key, value] of Object.entries(part.metrics ?? {}))
        metrics[`${name}/${key}`] = value;
    }
    return { kind: "scored", reward, metrics };
  };
}

/** The grade's own ±1, as a part to be weighted. */
export const gradeScore: ScoreTrajectory = ({ phase: { grade } }) => {
  const score = scoreGrade(grade);
  if (score !== null) return { kind: "scored", reward: score.reward };
  return { kind: "unscored", reason: grade.kind === "unscored" ? grade.reason : "no score" };
};

/**
 * As `prepareStep` takes it: the custom reward in the place of ±1; format, answer and correctness stay the
 * grade's. null = unscored, by the grade or by the custom score.
 */
export function scoreWith(
  custom: ScoreTrajectory,
): (member: GradedMember, group: Group) => Score | null {
  return (member, group) => {
    const score = scoreGrade(member.phase.grade);
    const own = custom(member, group);
    return score === null || own.kind === "unscored" ? null : { ...score, reward: own.reward };
  };
}
