/** Graded members and groups written out by hand, token by token. */
import { createHash } from "node:crypto";
import {
  append,
  sampledSegment,
  segment,
  tokensOf,
  weightVersion,
  type Grade,
  type GradedMember,
  type Group,
  type Tokens,
  type ToolCall,
  type Turn,
} from "../../src/index.ts";

export const RIGHT: Grade = { kind: "equal", answer: "42", by: "hand" };
export const WRONG: Grade = { kind: "different", answer: "7", by: "hand" };
export const NO_BOX: Grade = { kind: "different", answer: null, by: "hand" };
export const UNSCORED: Grade = { kind: "unscored", reason: "grader_timeout", detail: "10 s" };

export type HandTurn = Partial<Turn> & {
  /** What was joined before this turn; for the first turn the prompt. */
  readonly before: readonly number[];
  readonly sampled: readonly number[];
  /** Default: −1, −2, −3, … */
  readonly logprobs?: readonly number[];
};

export type HandMember = {
  readonly turns: readonly HandTurn[];
  readonly grade: Grade;
  readonly termination?: GradedMember["phase"]["termination"];
  /** Joined after the last turn. */
  readonly after?: readonly number[];
  readonly toolCalls?: readonly ToolCall[];
  readonly failure?: GradedMember["failure"];
};

export function handMember(index: number, hand: HandMember): GradedMember {
  let tokens: Tokens = tokensOf(Int32Array.from(hand.turns[0]?.before ?? []));
  const turns = hand.turns.map(({ before, sampled, logprobs, ...rest }, i): Turn => {
    if (i > 0) tokens = append(tokens, segment("observed", Int32Array.from(before)));
    const promptLength = tokens.length;
    const values = logprobs ?? sampled.map((_, at) => -(at + 1));
    tokens = append(tokens, sampledSegment(Int32Array.from(sampled), Float32Array.from(values)));
    return {
      promptLength,
      length: sampled.length,
      finish: "stop",
      seed: 42 + i,
      versions:
        sampled.length === 0
          ? []
          : [{ version: weightVersion("v1"), start: 0, end: sampled.length }],
      parsed: i < hand.turns.length - 1 ? "tool" : "answer",
      invalidCause: null,
      opensCall: i < hand.turns.length - 1,
      textMismatch: false,
      ...rest,
    };
  });
  if (hand.after !== undefined) {
    tokens = append(tokens, segment("observed", Int32Array.from(hand.after)));
  }
  const toolCalls = hand.toolCalls ?? [];
  return {
    index,
    tokens,
    turns,
    toolCalls,
    codeCalls: toolCalls.filter(({ content }) => content !== null).length,
    phase: { type: "graded", termination: hand.termination ?? "answer", grade: hand.grade },
    failure: hand.failure ?? null,
  };
}

export function handGroup(question: number, members: readonly HandMember[]): Group {
  return {
    question,
    problem: { id: `p${question}`, question: "What is 6*7?", answer: "42", dataSource: "made" },
    members: members.map((member, index) => handMember(index, member)),
  };
}

/** SHA-256 of the array's bytes; every machine that runs these tests is little-endian, as the vectors are. */
export function sha256(array: Int32Array | Float32Array): string {
  return createHash("sha256")
    .update(new Uint8Array(array.buffer, array.byteOffset, array.byteLength))
    .digest("hex");
}
