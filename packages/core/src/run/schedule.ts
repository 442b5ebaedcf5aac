/** When pending commands start. A schedule never decides what happens, only when (invariant 10). */
import type { Command } from "../rollout/command.ts";

/** Commands that no port has seen yet, by kind: a schedule is asked at every answer and looks only at what may start. */
export type Waiting = Readonly<Record<Command["type"], readonly Command[]>>;

export type ScheduleState = {
  readonly waiting: Waiting;
  /** Sample and execute commands in flight. */
  readonly running: number;
  /** No further problem can be opened now. */
  readonly opened: boolean;
};

/** Returns the commands of `waiting` to start now. */
export type Schedule = (state: ScheduleState) => readonly Command[];

/** Each trajectory goes on as soon as it can; the ports bound what runs at once. */
export const continuous: Schedule = ({ waiting }) => [
  ...waiting.sample,
  ...waiting.execute,
  ...waiting.grade,
];

/** The described behaviour: sample every live trajectory, wait for all, run every tool call, wait for all. */
export const rounds: Schedule = ({ waiting, running, opened }) => {
  if (running > 0 || !opened) return waiting.grade;
  const next = waiting.execute.length > 0 ? waiting.execute : waiting.sample;
  return [...waiting.grade, ...next.toSorted(byTrajectory)];
};

export const SCHEDULES = { continuous, rounds } as const;
export type ScheduleName = keyof typeof SCHEDULES;

function byTrajectory(a: Command, b: Command): number {
  return a.key.question - b.key.question || (a.key.group ?? -1) - (b.key.group ?? -1);
}
