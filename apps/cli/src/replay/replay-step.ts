/**
 * A step again from its recorded answers. In: a plan, problems, events. Out: the groups, and every answer that
 * this plan would need and the recording does not hold. Asks no server, runs no Python.
 */
import {
  collect,
  fail,
  formatKey,
  type Command,
  type Grader,
  type Group,
  type Ports,
  type Schedule,
} from "@interlace/core";
import type { RecordedStep } from "./open-recording.ts";

export type ReplayOptions = {
  readonly vocabSize: number;
  readonly schedule: Schedule;
  /** Grades again instead of taking the recorded grades. */
  readonly grader?: Grader;
  readonly signal?: AbortSignal;
};

export type Replay = {
  readonly groups: readonly Group[];
  /** Where the recording ends, by trajectory and turn: `question 3, trajectory 1, turn 2: sample`. */
  readonly missing: readonly string[];
};

export async function replayStep(
  { plan, problems, questions, log }: RecordedStep,
  options: ReplayOptions,
): Promise<Replay> {
  const { events } = log;
  const missing: string[] = [];
  const grader = options.grader;
  const notRecorded = (boundary: "sampler" | "sandbox") =>
    fail(boundary, "not_recorded", "The recording holds no answer here");
  const ports: Ports = {
    sampler: {
      identity: () => Promise.reject(new Error("A replay has no server")),
      sample: ({ samples }) =>
        Promise.resolve(Array.from({ length: samples }, () => notRecorded("sampler"))),
    },
    sandbox: {
      isolation: () => ({ backend: "replay", level: "none", lines: [] }),
      run: () => Promise.resolve(notRecorded("sandbox")),
    },
    grader: grader ?? {
      grade: () => Promise.resolve({ kind: "unscored", reason: "not_recorded", detail: "" }),
    },
    log: null,
  };
  const past = grader === undefined ? events : events.filter(({ type }) => type !== "graded");
  const batch = await collect(plan, problems, ports, {
    schedule: options.schedule,
    past,
    vocabSize: options.vocabSize,
    maxFailedFraction: 1,
    questionIndex: (position) => questions[position] ?? NaN,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    onCommand: (command) => {
      if (command.type !== "grade" || grader === undefined) missing.push(describePlace(command));
    },
  });
  return { groups: batch.groups, missing };
}

function describePlace({ type, key }: Command): string {
  const who = key.group === null ? "all trajectories" : `trajectory ${key.group}`;
  return `question ${key.question}, ${who}, turn ${key.turn}: ${type} (${formatKey(key)})`;
}
