/**
 * In: a score and what the trajectory did. Out: the reward that the advantage is taken of.
 * Refuses to know: right answers – only wrong ones are shaped, so that trying the tool costs less.
 * Source: the published ReTool recipes, which differ in the cap and in what they count.
 */
import type { GradedMember } from "../rollout/group.ts";
import { overlongPenalty, type OverlongLimits } from "./overlong.ts";
import { scoreGrade, type Score } from "./score.ts";

/** `cap0`, `cap06`: never above 0, never above −0.6; then what is counted. */
export const SHAPINGS = [
  "off",
  "retool_cap0_turns",
  "retool_cap0_calls",
  "retool_cap06_turns",
  "retool_cap06_calls",
] as const;
export type Shaping = (typeof SHAPINGS)[number];

/** What a trajectory did: recorded generations, and observations joined to its history. */
export type Activity = { readonly assistantTurns: number; readonly codeCalls: number };

type Variant = { readonly cap: number; readonly count: (activity: Activity) => number };

/** The recipes count every turn of the chat: the question, generations, observations. */
const turns = ({ assistantTurns, codeCalls }: Activity): number => 1 + assistantTurns + codeCalls;
const calls = ({ codeCalls }: Activity): number => codeCalls;

const VARIANTS: Readonly<Record<Exclude<Shaping, "off">, Variant>> = {
  retool_cap0_turns: { cap: 0, count: turns },
  retool_cap0_calls: { cap: 0, count: calls },
  retool_cap06_turns: { cap: -0.6, count: turns },
  retool_cap06_calls: { cap: -0.6, count: calls },
};

/** Wrong: `min(cap, reward + (count − 2) / 2 · 0.1)`. Right, or `off`: the reward as it is. */
export function shapeReward(score: Score, activity: Activity, shaping: Shaping): number {
  if (shaping === "off" || score.correct) return score.reward;
  const { cap, count } = VARIANTS[shaping];
  return Math.min(cap, score.reward + ((count(activity) - 2) / 2) * 0.1);
}

/** As `prepareStep` takes it: the grade's score with its reward shaped; null = unscored. `overlong` null = off. */
export function scoreShaped(
  shaping: Shaping,
  overlong: OverlongLimits | null = null,
): (member: GradedMember) => Score | null {
  return (member) => {
    const score = scoreGrade(member.phase.grade);
    if (score === null) return null;
    const activity = { assistantTurns: member.turns.length, codeCalls: member.codeCalls };
    const reward = shapeReward(score, activity, shaping);
    const sampled = member.turns.reduce((sum, turn) => sum + turn.length, 0);
    const penalty = overlong === null ? 0 : overlongPenalty(sampled, overlong);
    return { ...score, reward: reward + penalty };
  };
}
