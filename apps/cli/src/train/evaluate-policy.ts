/**
 * The policy on problems it is never trained on: one sample each, seeds of their own. In: the ports that roll out.
 * Out: mean reward and share right. Writes nothing.
 */
import {
  collect,
  isGraded,
  scoreGrade,
  SCHEDULES,
  type MathExample,
  type Plan,
} from "@interlace/core";
import type { PreparedRun } from "../rollout/prepare-run.ts";

export type HeldOutScore = {
  readonly reward: number;
  readonly correct: number;
  readonly scored: number;
};

/** A step index that no training step reaches: its hashed seeds are nobody else's. */
const HELD_OUT_STEP = 2 ** 30;

export async function evaluatePolicy(
  run: PreparedRun,
  problems: readonly MathExample[],
  signal: AbortSignal,
): Promise<HeldOutScore | null> {
  const { config, ports, language } = run;
  const plan: Plan = {
    config: { ...config.rollout, groupSize: 1, seedScheme: "hashed" },
    protocol: language.protocol,
    step: HELD_OUT_STEP,
  };
  const batch = await collect(
    plan,
    problems,
    { ...ports, log: null },
    {
      schedule: SCHEDULES.continuous,
      vocabSize: ports.identity.vocabSize,
      maxFailedFraction: 1,
      signal,
    },
  );
  if (batch.end === "interrupted") return null;
  const scores = batch.groups.flatMap(({ members }) =>
    members.filter(isGraded).map((member) => scoreGrade(member.phase.grade)),
  );
  const scored = scores.filter((score) => score !== null);
  if (scored.length === 0) return { reward: 0, correct: 0, scored: 0 };
  const mean = (pick: (score: (typeof scored)[number]) => number) =>
    scored.reduce((sum, score) => sum + pick(score), 0) / scored.length;
  return {
    reward: mean(({ reward }) => reward),
    correct: mean(({ correct }) => Number(correct)),
    scored: scored.length,
  };
}
