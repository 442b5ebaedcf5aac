/**
 * Groups that were under way when a batch was full. In: the logs of two steps. Out: their problems' positions, and their
 * answers as answers of the next step, written into its own log: each log can then be stepped again by itself.
 */
import { existsSync } from "node:fs";
import type { Event } from "@interlace/core";
import type { Config } from "../config/schema.ts";
import type { FileEventLog } from "../event-log/file-event-log.ts";
import { answerName, type Mark } from "../event-log/log-line.ts";
import { readEventLog } from "../event-log/read-event-log.ts";
import { stepFolderOf, type RunFolder } from "../run-folder/run-folder.ts";

export type SelectedMark = Extract<Mark, { type: "selected" }>;

export type CarriedGroups = {
  /** By question_index of the step that they go on in, from 0. */
  readonly positions: readonly number[];
  readonly events: readonly Event[];
};

export const NOTHING_CARRIED: CarriedGroups = { positions: [], events: [] };

export function findSelected(marks: readonly Mark[]): SelectedMark | null {
  return marks.find((mark) => mark.type === "selected") ?? null;
}

/** What `step` begins with. */
export async function carriedInto(
  folder: RunFolder,
  { dynamicSampling }: Config,
  step: number,
): Promise<CarriedGroups> {
  if (step === 0 || !dynamicSampling.enabled || dynamicSampling.oversample === 0) {
    return NOTHING_CARRIED;
  }
  const path = stepFolderOf(folder, step - 1).events;
  if (!existsSync(path)) return NOTHING_CARRIED;
  const log = await readEventLog(path);
  const carried = findSelected(log.marks)?.carried ?? [];
  const places = new Map(carried.map(({ question }, place) => [question, place]));
  return {
    positions: carried.map(({ position }) => position),
    events: log.events.flatMap((event) => {
      const question = places.get(event.key.question);
      return question === undefined ? [] : [{ ...event, key: { ...event.key, step, question } }];
    }),
  };
}

/** Appends what the log does not hold yet; returns it. */
export function recordCarried(
  log: FileEventLog,
  past: readonly Event[],
  { events }: CarriedGroups,
): readonly Event[] {
  const known = new Set(past.map(answerName));
  const missing = events.filter((event) => !known.has(answerName(event)));
  for (const event of missing) log.append(event);
  return missing;
}
