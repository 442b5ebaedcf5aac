/**
 * Dynamic sampling and over-sampling on top of the stream. In: problems without end, how many groups with a signal
 * a batch needs. Out: exactly those, or as many as the bound on problems allowed; what was dropped and why; what
 * was still under way, to be carried into the next batch. Knows no estimator: a predicate says what has no signal.
 */
import { isDegenerate } from "../advantage/group-centred.ts";
import type { MathExample } from "../data/math-example.ts";
import type { Event } from "../ports/event-log.ts";
import { scoreGrade } from "../reward/score.ts";
import { isGraded, type Group } from "../rollout/group.ts";
import type { Plan } from "../rollout/plan.ts";
import type { Ports } from "./issue.ts";
import { rollout, type RolloutOptions } from "./rollout.ts";

export type SelectOptions = Omit<RolloutOptions, "maxOpenGroups" | "mayOpen" | "questionIndex"> & {
  /** Groups with a signal that make a batch, ≥ 1. */
  readonly groups: number;
  /** Problems rolled out at most to find them, carried ones included. Default 3 × groups: a refill always ends. */
  readonly maxProblems?: number;
  /** Problems open beyond those still needed: nobody waits for the slowest. Default 0. */
  readonly oversample?: number;
  /** Why a complete group is of no use, or null. Default: `no_signal` when all scored rewards are equal. */
  readonly dropReason?: (group: Group) => string | null;
  /** Unfinished groups of an earlier batch: they are opened first, and go on where they were. */
  readonly carried?: readonly CarriedGroup[];
};

/** A group that was under way when its batch was full: its problem and every answer so far, in order; maybe none. */
export type CarriedGroup = { readonly problem: MathExample; readonly events: readonly Event[] };

export type Selection = {
  /** `full`; `exhausted`: no more problems, or the bound was reached; `interrupted`: aborted. */
  readonly end: "full" | "exhausted" | "interrupted";
  /** By `question_index`, which counts every problem that was opened. */
  readonly groups: readonly Group[];
  /** Complete groups that were not taken, by reason. */
  readonly dropped: ReadonlyMap<string, readonly Group[]>;
  readonly carried: readonly CarriedGroup[];
  /** Problems opened, carried ones included. */
  readonly opened: number;
};

export async function selectGroups(
  plan: Plan,
  problems: Iterable<MathExample> | AsyncIterable<MathExample>,
  ports: Ports,
  options: SelectOptions,
): Promise<Selection> {
  const { groups: wanted, oversample = 0, carried = [] } = options;
  const bound = options.maxProblems ?? 3 * wanted;
  checkCounts({ groups: wanted, maxProblems: bound });
  const dropReason = options.dropReason ?? withoutSignal;
  const kept: Group[] = [];
  const dropped = new Map<string, Group[]>();
  const opened: MathExample[] = [];
  const events = new Map<number, Event[]>();
  const stop = new AbortController();
  const complete = new Set<number>();

  async function* supply(): AsyncGenerator<MathExample> {
    for await (const next of iterate(carried, problems)) {
      opened.push(next);
      yield next;
      if (opened.length >= bound) return;
    }
  }
  const mayOpen = (): boolean => kept.length + opened.length - complete.size < wanted + oversample;

  // What this batch's own log holds comes first: it holds what was carried, and how that went on.
  const past = [
    ...(options.past ?? []),
    ...carried.flatMap((group, question) => rekey(group.events, plan.step, question)),
  ];
  for (const event of past) remember(events, event);
  const signals = options.signal === undefined ? [stop.signal] : [stop.signal, options.signal];
  const stream = rollout(plan, supply(), ports, {
    ...options,
    past,
    mayOpen,
    signal: AbortSignal.any(signals),
    onEvent: (event) => {
      remember(events, event);
      options.onEvent?.(event);
    },
  });
  for await (const group of stream) {
    complete.add(group.question);
    events.delete(group.question);
    const reason = kept.length === wanted ? "batch_full" : dropReason(group);
    if (reason === null) kept.push(group);
    else dropped.set(reason, [...(dropped.get(reason) ?? []), group]);
    if (kept.length === wanted) stop.abort();
  }
  return {
    end: endOf(kept.length === wanted, options.signal?.aborted === true),
    groups: kept.toSorted((a, b) => a.question - b.question),
    dropped,
    carried: opened.flatMap((each, question) =>
      complete.has(question) ? [] : [{ problem: each, events: events.get(question) ?? [] }],
    ),
    opened: opened.length,
  };
}

/** Answers of a carried group, as answers of this step at its new place. */
function rekey(events: readonly Event[], step: number, question: number): Event[] {
  return events.map((event) => ({ ...event, key: { ...event.key, step, question } }));
}

function remember(events: Map<number, Event[]>, event: Event): void {
  const { question } = event.key;
  const known = events.get(question);
  if (known === undefined) events.set(question, [event]);
  else known.push(event);
}

function withoutSignal(group: Group): string | null {
  const rewards = group.members.map((member) =>
    isGraded(member) ? (scoreGrade(member.phase.grade)?.reward ?? null) : null,
  );
  return isDegenerate(rewards) ? "no_signal" : null;
}

function endOf(isFull: boolean, isAborted: boolean): Selection["end"] {
  if (isFull) return "full";
  return isAborted ? "interrupted" : "exhausted";
}

async function* iterate(
  carried: readonly CarriedGroup[],
  problems: Iterable<MathExample> | AsyncIterable<MathExample>,
): AsyncGenerator<MathExample> {
  for (const { problem } of carried) yield problem;
  yield* problems;
}

function checkCounts(counts: Readonly<Record<string, number>>): void {
  for (const [name, count] of Object.entries(counts)) {
    if (!Number.isInteger(count) || count < 1) {
      throw new RangeError(`Expected ${name} to be a positive integer, got ${count}`);
    }
  }
}
