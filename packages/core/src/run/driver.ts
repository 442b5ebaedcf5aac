/**
 * Carries commands out and feeds the answers back. In: opened groups. Out: complete groups in `take()`.
 * Works whether or not anyone is taking: a slow consumer never keeps an answer waiting.
 * Knows no algorithm: `step` decides what, the schedule when, the ports how many at once.
 */
import type { MathExample } from "../data/math-example.ts";
import type { Event } from "../ports/event-log.ts";
import { formatKey } from "../ports/key.ts";
import type { Command } from "../rollout/command.ts";
import { isComplete, isGraded, type Group, type Member } from "../rollout/group.ts";
import type { Plan } from "../rollout/plan.ts";
import { open, step, type Step } from "../rollout/step.ts";
import { issue, type Ports } from "./issue.ts";
import { createOffspring } from "./offspring.ts";
import type { Past } from "./past.ts";
import type { Schedule } from "./schedule.ts";

export type DriverOptions = {
  readonly schedule: Schedule;
  readonly past: Past;
  readonly vocabSize: number;
  readonly questionIndex: (position: number) => number;
  readonly signal: AbortSignal;
  readonly notify: {
    readonly event: (event: Event) => void;
    readonly command: (command: Command) => void;
    readonly settled: (group: Group, member: Member) => void;
  };
  /** Something completed, went idle or broke: look again. */
  readonly onChange: () => void;
};

export type Driver = {
  /** Live groups and complete ones that nobody took yet. */
  readonly held: () => number;
  /** Opens a problem at the next position. Breaks when its `question_index` is taken. */
  readonly open: (problem: MathExample) => void;
  /** No further problem can be opened until a group completes. */
  readonly setOpened: (opened: boolean) => void;
  readonly take: () => readonly Group[];
  /** Nothing is in flight. */
  readonly isIdle: () => boolean;
  /** A bug or a log that cannot be written; null while all is well. */
  readonly broken: () => { readonly error: unknown } | null;
  readonly settle: () => Promise<unknown>;
};

export function createDriver(plan: Plan, ports: Ports, options: DriverOptions): Driver {
  const { schedule, past, vocabSize, questionIndex, signal, notify, onChange } = options;
  const groups = new Map<number, Group>();
  const complete: Group[] = [];
  const inFlight = new Set<Promise<void>>();
  const offspring = createOffspring(signal);
  const waiting: Record<Command["type"], Command[]> = { sample: [], execute: [], grade: [] };
  /** Sample and execute commands in flight; grades hold no barrier. */
  let running = 0;
  let opened = false;
  let position = 0;
  let broken: { readonly error: unknown } | null = null;

  /** Takes a step's result in and follows past answers as far as they go. */
  function accept(before: readonly Member[], first: Step): void {
    let { group } = first;
    tellSettled(before, group);
    const commands = [...first.commands];
    for (let command = commands.shift(); command !== undefined; command = commands.shift()) {
      const answer = past.take(command);
      if (answer === null) {
        waiting[command.type].push(command);
        continue;
      }
      const next = step(plan, group, answer);
      tellSettled(group.members, next.group);
      group = next.group;
      commands.push(...next.commands);
    }
    if (isComplete(group)) {
      groups.delete(group.question);
      complete.push(group);
    } else groups.set(group.question, group);
  }

  function tellSettled(before: readonly Member[], group: Group): void {
    for (const [i, member] of group.members.entries()) {
      const old = before[i];
      if (member === old) continue;
      if (isGraded(member) && (old === undefined || !isGraded(old))) notify.settled(group, member);
    }
  }

  /** Logged before the commands that it causes are issued. */
  function handle(event: Event): void {
    const group = groups.get(event.key.question);
    if (group === undefined) throw new Error(`Answer ${formatKey(event.key)} has no open group`);
    ports.log?.append(event);
    notify.event(event);
    accept(group.members, step(plan, group, event));
  }

  function guard(action: () => void): void {
    try {
      if (broken === null) action();
    } catch (error) {
      broken = { error };
    }
    onChange();
  }

  function pump(): void {
    if (signal.aborted) return;
    const chosen = new Set(schedule({ waiting, running, opened }));
    if (chosen.size === 0) return;
    for (const kind of KINDS) waiting[kind] = withoutChosen(waiting[kind], kind, chosen);
    for (const command of chosen) launch(command);
  }

  function launch(command: Command): void {
    const weight = command.type === "grade" ? 0 : 1;
    running += weight;
    notify.command(command);
    const own = offspring.bear();
    const land = (action: () => void) => {
      running -= weight;
      inFlight.delete(flight);
      own.forget();
      guard(() => {
        action();
        pump();
      });
    };
    const flight: Promise<void> = issue(command, ports, vocabSize, own.signal).then(
      (event) => land(() => handle(event)),
      (error: unknown) =>
        land(() => {
          // Without an abort, `issue` rejects only by a bug of this package.
          if (!signal.aborted) throw error;
        }),
    );
    inFlight.add(flight);
  }

  return {
    held: () => groups.size + complete.length,
    open: (problem) =>
      guard(() => {
        const question = questionIndex(position++);
        if (groups.has(question)) throw new Error(`Expected one problem at question ${question}`);
        accept([], open(plan, problem, question));
        pump();
      }),
    setOpened: (value) => {
      // Saying the same again must not wake whoever waits for a change: it would be said for ever.
      if (value === opened) return;
      guard(() => {
        opened = value;
        pump();
      });
    },
    take: () => complete.splice(0),
    isIdle: () => inFlight.size === 0,
    broken: () => broken,
    settle: () => Promise.allSettled(inFlight),
  };
}

const KINDS = ["sample", "execute", "grade"] as const;

/** Costs what was chosen, not what waits: at a barrier thousands wait, and each answer asks again. */
function withoutChosen(
  waiting: Command[],
  kind: Command["type"],
  chosen: ReadonlySet<Command>,
): Command[] {
  let count = 0;
  for (const { type } of chosen) if (type === kind) count += 1;
  if (count === 0) return waiting;
  return count === waiting.length ? [] : waiting.filter((command) => !chosen.has(command));
}
