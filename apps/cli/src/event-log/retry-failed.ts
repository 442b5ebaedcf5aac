/**
 * `--retry-failed`. In: recorded events. Out: the names of those to ask again.
 * A failed first request takes its whole group with it: its siblings' later turns belong to that one answer.
 */
import type { Event } from "@interlace/core";
import { answerName } from "./log-line.ts";

export function findFailedAnswers(events: readonly Event[]): readonly string[] {
  const groups = new Set(
    events
      .filter((event) => event.key.group === null && holdsFailure(event))
      .map((event) => event.key.question),
  );
  return events
    .filter((event) => groups.has(event.key.question) || holdsFailure(event))
    .map(answerName);
}

function holdsFailure(event: Event): boolean {
  switch (event.type) {
    case "sampled":
      return event.sequences.some((sequence) => !sequence.ok || sequence.finish === "aborted");
    case "executed":
      return !event.result.ok || event.result.status === "cancelled";
    case "graded":
      return event.grade.kind === "unscored";
  }
}
