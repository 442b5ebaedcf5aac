/**
 * The public call. In: a stream of problems. Out: complete groups, as they complete.
 *
 *   problems ─open─▶ commands ─schedule─▶ ports ─▶ event ─log─▶ step ─▶ commands … ─▶ complete group
 */
import type { Event } from "../ports/event-log.ts";
import type { Command } from "../rollout/command.ts";
import type { Group, Member } from "../rollout/group.ts";
import type { Plan } from "../rollout/plan.ts";
import { createBell } from "./bell.ts";
import { createDriver } from "./driver.ts";
import { feed, type Problems } from "./feed.ts";
import type { Ports } from "./issue.ts";
import { indexPast } from "./past.ts";
import { continuous, type Schedule } from "./schedule.ts";
import { createShield } from "./shield.ts";

export type RolloutOptions = {
  /** Default `continuous`. */
  readonly schedule?: Schedule;
  /** Events of an earlier run of the same plan: what they answer is not asked again. */
  readonly past?: Iterable<Event>;
  readonly signal?: AbortSignal;
  /** Groups held at once, live or not yet taken; bounds memory when `problems` is endless. Default: no bound. */
  readonly maxOpenGroups?: number;
  /** false = no further problem now; asked again whenever a group was taken. Default: always. */
  readonly mayOpen?: () => boolean;
  /** `question_index` of the i-th problem, each its own: seeds and keys follow it. Default: i. */
  readonly questionIndex?: (position: number) => number;
  /** Ids that the sampler may return lie in `[0, vocabSize)`: the model's rows. Default: the protocol's. */
  readonly vocabSize?: number;
  /** Every new answer, after it was logged. Not awaited; one that blocks the thread blocks the rollout. */
  readonly onEvent?: (event: Event) => void;
  /** Every command, when it is given to its port. Same rules. */
  readonly onCommand?: (command: Command) => void;
  /** Every trajectory exactly once, when it is graded, also from past answers alone. Same rules. */
  readonly onSettled?: (group: Group, member: Member) => void;
  /** Told once when a callback throws. Default: `console.warn`. */
  readonly onWarning?: (message: string) => void;
};

/**
 * Rolls every problem out and yields each group once all its members are graded. `[]` in, nothing out, no request.
 * Abort (or leaving the loop) cancels what is in flight and ends after the groups that are complete.
 * Throws when the log cannot be written, or a past event does not belong to this plan; a failing port costs
 * only the trajectory that needed it.
 */
export async function* rollout(
  plan: Plan,
  problems: Problems,
  ports: Ports,
  options: RolloutOptions = {},
): AsyncGenerator<Group, void, void> {
  const shield = createShield(options.onWarning ?? console.warn);
  const stop = new AbortController();
  const bell = createBell();
  const onAbort = () => {
    stop.abort(options.signal?.reason);
    bell.ring();
  };
  if (options.signal?.aborted === true) onAbort();
  options.signal?.addEventListener("abort", onAbort, { once: true });
  const driver = createDriver(plan, ports, {
    schedule: options.schedule ?? continuous,
    past: indexPast(options.past ?? [], plan.step),
    vocabSize: options.vocabSize ?? plan.protocol.vocabSize,
    questionIndex: options.questionIndex ?? ((position) => position),
    signal: stop.signal,
    notify: {
      event: shield(options.onEvent),
      command: shield(options.onCommand),
      settled: shield(options.onSettled),
    },
    onChange: bell.ring,
  });
  let isFed = false;
  let feedFailure: { readonly error: unknown } | null = null;
  const limit = options.maxOpenGroups ?? Number.POSITIVE_INFINITY;
  const mayOpen = () => driver.held() < limit && (options.mayOpen?.() ?? true);
  const feeding = feed(driver, problems, { mayOpen, bell, signal: stop.signal })
    .catch((error: unknown) => {
      feedFailure = { error };
    })
    .finally(() => {
      isFed = true;
      bell.ring();
    });
  try {
    for (;;) {
      const rung = bell.heard();
      const groups = driver.take();
      if (groups.length > 0) {
        bell.ring(); // there is room for the next problem
        await ports.log?.flush();
        yield* groups;
        bell.ring(); // whoever took them may now want more
        continue;
      }
      const failure = driver.broken() ?? feedFailure;
      if (failure !== null) throw failure.error;
      if (isFed && driver.isIdle()) break;
      await rung;
    }
    await ports.log?.flush();
  } finally {
    stop.abort();
    bell.ring();
    options.signal?.removeEventListener("abort", onAbort);
    await Promise.all([driver.settle(), feeding]);
  }
}
