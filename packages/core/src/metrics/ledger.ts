/**
 * In: what a step asked for and what became of it. Out: a ledger that balances – asked = exported + dropped,
 * by cause, in trajectories and in sampled tokens – and counts of what went oddly (datum.md §3).
 * Refuses to know files and clocks; retries are told to it, for only ports see them.
 */
import type { NoDatumReason } from "../datum/datum.ts";
import type { ScoredTrajectory, StepDatums } from "../datum/step-datums.ts";
import type { InvalidCause } from "../protocol/dialects/dialect.ts";
import type { Member, Termination } from "../rollout/group.ts";

export type Balance = {
  /** Trajectories: asked for. Tokens: sampled. */
  readonly total: number;
  readonly exported: number;
  /** By cause: `zero_advantage`, `unscored:sampler_failed:server_error`, `not_finished`, … */
  readonly dropped: Readonly<Record<string, number>>;
};

type Counts<K extends string> = Readonly<Partial<Record<K, number>>>;

export type Ledger = {
  readonly trajectories: Balance;
  readonly sampledTokens: Balance;
  /** Of the trajectories that came back. */
  readonly terminations: Counts<Termination>;
  /** Turns whose text was no valid call, by cause. */
  readonly invalidTurns: Counts<InvalidCause>;
  /** Turns cut at their token limit. */
  readonly truncatedTurns: number;
  /** Observations joined without their beginning. */
  readonly truncatedObservations: number;
  /** Turns whose server text is not what the ids decode to. */
  readonly textMismatches: number;
  /** Sandbox runs; those not joined are in no one's context. */
  readonly sandboxRuns: { readonly joined: number; readonly notJoined: number };
  /** By port, as the ports counted them. */
  readonly retries: Readonly<Record<string, number>>;
};

export type LedgerInput = {
  /** Trajectories asked for: problems × group size. */
  readonly asked: number;
  /** By port. */
  readonly retries?: Readonly<Record<string, number>>;
  /** Complete groups that never reached the step's datums (dynamic sampling), by cause. */
  readonly setAside?: Readonly<Record<string, readonly Member[]>>;
};

/** Throws when more trajectories came back than were asked for. */
export function buildLedger(step: StepDatums, input: LedgerInput): Ledger {
  const trajectories = new Map<string, number>();
  const tokens = new Map<string, number>();
  const drop = (cause: string, member: Member): void => {
    add(trajectories, cause, 1);
    add(tokens, cause, countSampled(member));
  };
  for (const trajectory of step.trajectories) {
    if (trajectory.noDatum !== null)
      drop(dropCause(trajectory, trajectory.noDatum), trajectory.member);
  }
  const aside = Object.entries(input.setAside ?? {});
  for (const [cause, members] of aside) for (const member of members) drop(cause, member);
  const members = [
    ...step.trajectories.map(({ member }): Member => member),
    ...aside.flatMap(([, each]) => each),
  ];
  const missing = input.asked - members.length;
  if (!Number.isSafeInteger(missing) || missing < 0) {
    throw new RangeError(
      `Expected at most the ${input.asked} trajectories that were asked for, got ${members.length}`,
    );
  }
  if (missing > 0) {
    add(trajectories, "not_finished", missing);
    add(tokens, "not_finished", 0);
  }
  const exported = step.datums.map(({ member }) => member);
  return {
    trajectories: {
      total: input.asked,
      exported: exported.length,
      dropped: Object.fromEntries(trajectories),
    },
    sampledTokens: {
      total: sumSampled(members),
      exported: sumSampled(exported),
      dropped: Object.fromEntries(tokens),
    },
    ...countOddities(members),
    retries: input.retries ?? {},
  };
}

/** What does not add up, one sentence each; empty = the ledger balances. */
export function checkLedger(ledger: Ledger): readonly string[] {
  const problems: string[] = [];
  for (const unit of ["trajectories", "sampledTokens"] as const) {
    const { total, exported, dropped } = ledger[unit];
    const out = sumValues(dropped);
    if (total !== exported + out) {
      problems.push(
        `${unit}: ${total} in, but ${exported} exported + ${out} dropped = ${exported + out}`,
      );
    }
    for (const [cause, count] of Object.entries({ exported, ...dropped })) {
      if (!Number.isSafeInteger(count) || count < 0) {
        problems.push(`${unit}, ${cause}: expected a count, got ${count}`);
      }
    }
  }
  const causes = [ledger.trajectories, ledger.sampledTokens].map(({ dropped }) =>
    Object.keys(dropped).sort().join(", "),
  );
  if (causes[0] !== causes[1]) {
    problems.push(`causes differ: trajectories have ${causes[0]}, tokens have ${causes[1]}`);
  }
  const ended = sumValues(ledger.terminations);
  const returned = ledger.trajectories.total - (ledger.trajectories.dropped["not_finished"] ?? 0);
  if (ended !== returned) {
    problems.push(
      `terminations: ${returned} trajectories came back, but ${ended} ends are counted`,
    );
  }
  return problems;
}

/** C_1 + C_2 + …: what was paid for. */
export function countSampled(member: Member): number {
  return member.turns.reduce((sum, turn) => sum + turn.length, 0);
}

function dropCause({ member }: ScoredTrajectory, reason: NoDatumReason): string {
  if (reason !== "unscored") return reason;
  const { grade, termination } = member.phase;
  if (member.failure !== null) return `unscored:${termination}:${member.failure.cause}`;
  return grade.kind === "unscored"
    ? `unscored:${termination}:${grade.reason}`
    : `unscored:${termination}`;
}

function countOddities(
  members: readonly Member[],
): Pick<
  Ledger,
  | "terminations"
  | "invalidTurns"
  | "truncatedTurns"
  | "truncatedObservations"
  | "textMismatches"
  | "sandboxRuns"
> {
  const turns = members.flatMap((member) => member.turns);
  const calls = members.flatMap((member) => member.toolCalls);
  const joined = calls.filter(({ content }) => content !== null).length;
  return {
    terminations: countBy(
      members.map(({ phase }) => ("termination" in phase ? phase.termination : null)),
    ),
    invalidTurns: countBy(turns.map(({ invalidCause }) => invalidCause)),
    truncatedTurns: turns.filter(({ finish }) => finish === "length").length,
    truncatedObservations: calls.filter(({ content, truncated }) => content !== null && truncated)
      .length,
    textMismatches: turns.filter(({ textMismatch }) => textMismatch).length,
    sandboxRuns: { joined, notJoined: calls.length - joined },
  };
}

function countBy<K extends string>(values: readonly (K | null)[]): Counts<K> {
  const counts: Partial<Record<K, number>> = {};
  for (const value of values) if (value !== null) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

function add(counts: Map<string, number>, key: string, amount: number): void {
  counts.set(key, (counts.get(key) ?? 0) + amount);
}

function sumValues(counts: Readonly<Partial<Record<string, number>>>): number {
  return Object.values(counts).reduce<number>((sum, count) => sum + (count ?? 0), 0);
}

function sumSampled(members: readonly Member[]): number {
  return members.reduce((sum, member) => sum + countSampled(member), 0);
}
