import type { MathExample } from "../data/math-example.ts";
import type { Failure } from "../ports/failure.ts";
import type { Grade } from "../ports/grader.ts";
import type { Sequence } from "../ports/sampler.ts";
import type { ExecResult } from "../ports/sandbox.ts";
import type { InvalidCause } from "../protocol/dialects/dialect.ts";
import type { Tokens } from "../tokens/tokens.ts";

/** Why a trajectory ended; when several apply, the first of the spec's order counts (rollout.md §4). */
export const TERMINATIONS = [
  "answer",
  "invalid_format",
  "code_calls_exhausted",
  "turns_exhausted",
  "observation_over_budget",
  "trajectory_budget_exhausted",
  "prompt_over_budget",
  "sampler_failed",
  "tool_failed",
  "aborted",
] as const;
export type Termination = (typeof TERMINATIONS)[number];

/** One sampler generation. Its ids and logprobs are the i-th `sampled` segment of the member's tokens. */
export type Turn = {
  /** len(P_i). */
  readonly promptLength: number;
  /** len(C_i); 0 is legal. */
  readonly length: number;
  readonly finish: Sequence["finish"];
  readonly seed: number;
  readonly versions: Sequence["versions"];
  /** What the text was; null = never parsed (the server aborted it). */
  readonly parsed: "answer" | "tool" | "invalid" | null;
  readonly invalidCause: InvalidCause | null;
  /** The text holds the marker that opens a call. */
  readonly opensCall: boolean;
  /** The server sent a text that is not what the ids decode to. */
  readonly textMismatch: boolean;
};

/** One sandbox run, joined to the history or not. */
export type ToolCall = {
  /** `code-{question_index}-{group_index}-{code_calls + 1}`. */
  readonly id: string;
  /** Turn that asked for it, from 0. */
  readonly turn: number;
  readonly code: string;
  readonly result: ExecResult | Failure;
  /** Observation as joined; null = it failed or did not fit. */
  readonly content: string | null;
  readonly truncated: boolean;
};

export type Phase =
  | { readonly type: "sampling"; readonly turn: number }
  | {
      readonly type: "executing";
      readonly turn: number;
      readonly callId: string;
      readonly code: string;
    }
  | { readonly type: "ended"; readonly termination: Termination }
  | { readonly type: "graded"; readonly termination: Termination; readonly grade: Grade };

/** One trajectory. Shares nothing mutable with its siblings. */
export type Member = {
  /** `group_index`. */
  readonly index: number;
  readonly tokens: Tokens;
  readonly turns: readonly Turn[];
  readonly toolCalls: readonly ToolCall[];
  /** Observations joined to the history; can be fewer than `toolCalls`. */
  readonly codeCalls: number;
  readonly phase: Phase;
  /** What broke, when the end is `sampler_failed`, `tool_failed` or `aborted`; else null. */
  readonly failure: Failure | null;
};

/** All trajectories of one problem in one batch. */
export type Group = {
  /** `question_index`. */
  readonly question: number;
  readonly problem: MathExample;
  readonly members: readonly Member[];
};

/** A member whose phase is known to be final. */
export type GradedMember = Member & { readonly phase: Extract<Phase, { type: "graded" }> };

export function isGraded(member: Member): member is GradedMember {
  return member.phase.type === "graded";
}

export function isComplete(group: Group): boolean {
  return group.members.every(isGraded);
}

/** `trajectory_index = question_index * group_size + group_index`: derived, never stored. */
export function trajectoryIndex(group: Group, member: Member): number {
  return group.question * group.members.length + member.index;
}

/** The termination of a member that has ended; throws on one that is still live (a bug of the caller). */
export function terminationOf(member: Member): Termination {
  if (member.phase.type === "ended" || member.phase.type === "graded")
    return member.phase.termination;
  throw new Error(`Member ${member.index} has not ended: it is ${member.phase.type}`);
}
