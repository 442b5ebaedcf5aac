/** The event log, stepped again, against the groups that the Arrow file holds. In: a recording. Out: findings. */
import { existsSync } from "node:fs";
import { SCHEDULES, type Group, type Reporter } from "@interlace/core";
import { messageOf } from "../person-error.ts";
import type { Recording } from "../replay/open-recording.ts";
import { replayStep } from "../replay/replay-step.ts";

export async function checkEventLog(
  recording: Recording,
  step: number,
  groups: readonly Group[],
  vocabSize: number,
  out: Reporter,
): Promise<void> {
  const where = `step-${String(step).padStart(6, "0")}/events.jsonl`;
  if (!existsSync(recording.logOf(step))) {
    out.skip("event_log", `needs ${where}, which is not there`);
    return;
  }
  try {
    const options = { vocabSize, schedule: SCHEDULES.continuous };
    const replay = await replayStep(await recording.step(step), options);
    for (const place of replay.missing)
      out.fail("event_log", { where }, "an answer", `none at ${place}`);
    const stored = new Map(groups.map((group) => [group.question, group]));
    for (const group of replay.groups) compareGroups(group, stored.get(group.question), where, out);
  } catch (error) {
    out.fail("event_log", { where }, "a log that can be stepped again", messageOf(error));
  }
}

function compareGroups(
  expected: Group,
  seen: Group | undefined,
  where: string,
  out: Reporter,
): void {
  for (const [i, member] of expected.members.entries()) {
    const [want, have] = [summary(member), summary(seen?.members[i])];
    const place = { where, column: `question ${expected.question}, trajectory ${i}` };
    out.expect("event_log", want === have, place, want, have);
  }
}

/** What must be the same; texts follow from the ids, which the hash stands for. */
function summary(member: Group["members"][number] | undefined): string {
  if (member === undefined) return "no trajectory";
  const { tokens, turns, toolCalls, codeCalls, phase, failure } = member;
  return JSON.stringify({
    tokens: tokens.length,
    hash: tokens.hash,
    logprobs: tokens.segments.flatMap(({ logprobs }) => (logprobs === null ? [] : hash(logprobs))),
    end: phase.type === "graded" ? [phase.termination, phase.grade] : phase.type,
    turns,
    calls: toolCalls.map(({ id, turn, code, content, truncated, result }) => {
      const status = result.ok ? result.status : result.cause;
      return [id, turn, code, content, truncated, status];
    }),
    codeCalls,
    failure,
  });
}

/** Of the values in their order: two that change places are another array. */
function hash(values: Float32Array): string {
  return Bun.hash(new Uint8Array(values.buffer, values.byteOffset, values.byteLength)).toString(16);
}
