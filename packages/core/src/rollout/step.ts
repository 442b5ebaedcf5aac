/**
 * The state machine of a group. In: a plan, a group, one answer. Out: the next group and what it wants now.
 * Pure: it knows no clock, no randomness, no port, no order of completion.
 *
 *   open ─▶ sample ─▶ record turn ─▶ parse ─▶ tool and allowed? ─no─▶ settle ─▶ grade
 *             ▲                                     │yes
 *             └── append D_i ◀─fits─ fit ◀── execute ┘      does not fit ─▶ settle
 */
import type { MathExample } from "../data/math-example.ts";
import { fail, type Failure } from "../ports/failure.ts";
import type { Event } from "../ports/event-log.ts";
import type { Grade } from "../ports/grader.ts";
import { formatKey, type Key } from "../ports/key.ts";
import type { Sequence } from "../ports/sampler.ts";
import type { ExecResult } from "../ports/sandbox.ts";
import { strip } from "../tokens/python-whitespace.ts";
import { append, sampledSegment, segment, tokensOf, type Tokens } from "../tokens/tokens.ts";
import { canCode, turnBudget } from "./budget.ts";
import type { Command } from "./command.ts";
import { fitObservation } from "./fit-observation.ts";
import type { Group, Member, Termination, ToolCall, Turn } from "./group.ts";
import { observationContent } from "./observation-content.ts";
import type { Plan } from "./plan.ts";
import { requestSeed } from "./seeds.ts";
import { turnText } from "./turn-text.ts";

export type Step = { readonly group: Group; readonly commands: readonly Command[] };

/** Opens a problem's group: one request for all members, or no request when the prompt is over budget. */
export function open(plan: Plan, problem: MathExample, question: number): Step {
  const { config, protocol } = plan;
  const tokens = tokensOf(protocol.firstPrompt(problem.question));
  const place = { promptLength: tokens.length, codeCalls: 0, turns: 0 };
  const maxTokens = turnBudget(config, place);
  const blank = { tokens, turns: [], toolCalls: [], codeCalls: 0, failure: null };
  const members = Array.from({ length: config.groupSize }, (_, index): Member => {
    if (maxTokens > 0) return { ...blank, index, phase: { type: "sampling", turn: 0 } };
    // Decided without a grader: there is no text to grade (fault 2: reward −1, advantage 0).
    const grade: Grade = { kind: "different", answer: null, by: "prompt_over_budget" };
    return { ...blank, index, phase: { type: "graded", termination: "prompt_over_budget", grade } };
  });
  const group: Group = { question, problem, members };
  if (maxTokens === 0) return { group, commands: [] };
  const key: Key = { step: plan.step, question, group: null, turn: 0 };
  return { group, commands: [sampleCommand(plan, key, tokens, maxTokens)] };
}

/** An event of a past turn, of another group or with the wrong number of sequences is a bug and throws. */
export function step(plan: Plan, group: Group, event: Event): Step {
  const { key } = event;
  if (key.question !== group.question || key.step !== plan.step) {
    throw new Error(
      `Event ${formatKey(key)} does not belong to question ${group.question} of step ${plan.step}`,
    );
  }
  if (event.type === "sampled" && key.group === null) return firstSampled(plan, group, event);
  const member = key.group === null ? undefined : group.members[key.group];
  if (member === undefined) throw new Error(`Event ${formatKey(key)} names no member of its group`);
  const next = stepMember(plan, group, member, event);
  const members = group.members.map((sibling) => (sibling === member ? next.member : sibling));
  return { group: { ...group, members }, commands: next.commands };
}

type MemberStep = { readonly member: Member; readonly commands: readonly Command[] };
type Sampled = Extract<Event, { type: "sampled" }>;

function firstSampled(plan: Plan, group: Group, event: Sampled): Step {
  expectCount(event, group.members.length);
  const steps = group.members.map((member, i) => {
    expectPhase(member, event, "sampling", 0);
    return recordTurn(plan, group, member, event.sequences[i] as Sequence | Failure);
  });
  return {
    group: { ...group, members: steps.map((s) => s.member) },
    commands: steps.flatMap((s) => s.commands),
  };
}

function stepMember(plan: Plan, group: Group, member: Member, event: Event): MemberStep {
  switch (event.type) {
    case "sampled":
      expectCount(event, 1);
      expectPhase(member, event, "sampling", member.turns.length);
      return recordTurn(plan, group, member, event.sequences[0] as Sequence | Failure);
    case "executed":
      expectPhase(member, event, "executing", member.turns.length);
      return joinResult(plan, group, member, event.result);
    case "graded": {
      const { phase } = member;
      expectPhase(member, event, "ended", member.turns.length);
      if (phase.type !== "ended") throw new Error("Unreachable: the phase was checked");
      const { termination } = phase;
      return {
        member: { ...member, phase: { type: "graded", termination, grade: event.grade } },
        commands: [],
      };
    }
  }
}

/** The turn is recorded before it is parsed: whatever was sampled stays (invariant 3). */
function recordTurn(
  plan: Plan,
  group: Group,
  member: Member,
  answer: Sequence | Failure,
): MemberStep {
  if (!answer.ok) return lose(member, "sampler_failed", answer);
  const { protocol, config } = plan;
  const tokens = append(member.tokens, sampledSegment(answer.ids, answer.logprobs));
  const text = protocol.decodeTurn(answer.ids);
  const isAborted = answer.finish === "aborted";
  const parsed = isAborted ? null : protocol.parse(text);
  const turn: Turn = {
    promptLength: member.tokens.length,
    length: answer.ids.length,
    finish: answer.finish,
    seed: answer.seed,
    versions: answer.versions,
    parsed: parsed?.kind ?? null,
    invalidCause: parsed?.kind === "invalid" ? parsed.cause : null,
    opensCall: protocol.opensCall(text),
    textMismatch: answer.serverText !== null && strip(answer.serverText) !== text,
  };
  const next: Member = { ...member, tokens, turns: [...member.turns, turn] };
  if (parsed === null) {
    return lose(
      next,
      "aborted",
      fail("sampler", "aborted", "The server aborted the sequence on its own"),
    );
  }
  if (turn.textMismatch && config.strictText) {
    const detail = "The server's text is not what its ids decode to, and strict_text is on";
    return lose(next, "sampler_failed", fail("sampler", "text_mismatch", detail));
  }
  switch (parsed.kind) {
    case "invalid":
      return settle(plan, group, next, "invalid_format");
    case "answer":
      return settle(plan, group, next, "answer");
    case "tool": {
      if (next.codeCalls >= config.maxCodeCalls) {
        return settle(plan, group, next, "code_calls_exhausted");
      }
      if (!canCode(config, next.codeCalls, next.turns.length)) {
        return settle(plan, group, next, "turns_exhausted");
      }
      return execute(plan, group, next, parsed.code);
    }
  }
}

function execute(plan: Plan, group: Group, member: Member, code: string): MemberStep {
  const callId = `code-${group.question}-${member.index}-${member.codeCalls + 1}`;
  return {
    member: { ...member, phase: { type: "executing", turn: member.turns.length, callId, code } },
    commands: [{ type: "execute", key: keyOf(plan, group, member), request: { id: callId, code } }],
  };
}

function joinResult(
  plan: Plan,
  group: Group,
  member: Member,
  result: ExecResult | Failure,
): MemberStep {
  const { phase } = member;
  if (phase.type !== "executing") throw new Error("Unreachable: the phase was checked");
  const call = { id: phase.callId, turn: member.turns.length - 1, code: phase.code, result };
  const unjoined = addCall(member, { ...call, content: null, truncated: false });
  if (!result.ok) return lose(unjoined, "tool_failed", result);
  const printed = observationContent(result);
  if (printed === null) {
    const detail = "The sandbox cancelled the run on its own";
    return lose(unjoined, "aborted", fail("sandbox", "cancelled", detail));
  }
  const fitted = fitObservation(plan.protocol, plan.config, {
    content: printed,
    completion: lastCompletion(member.tokens),
    promptLength: (member.turns.at(-1) as Turn).promptLength,
    toolStep: member.codeCalls,
  });
  if (!fitted.fits) return settle(plan, group, unjoined, "observation_over_budget");
  const { content, truncated } = fitted;
  const joined: Member = {
    ...addCall(member, { ...call, content, truncated }),
    tokens: append(member.tokens, segment("observed", fitted.delta)),
    codeCalls: member.codeCalls + 1,
  };
  return nextTurn(plan, group, joined);
}

function nextTurn(plan: Plan, group: Group, member: Member): MemberStep {
  const maxTokens = turnBudget(plan.config, {
    promptLength: member.tokens.length,
    codeCalls: member.codeCalls,
    turns: member.turns.length,
  });
  if (maxTokens === 0) return settle(plan, group, member, "trajectory_budget_exhausted");
  return {
    member: { ...member, phase: { type: "sampling", turn: member.turns.length } },
    commands: [sampleCommand(plan, keyOf(plan, group, member), member.tokens, maxTokens)],
  };
}

function settle(plan: Plan, group: Group, member: Member, termination: Termination): MemberStep {
  const finalText = turnText(plan.protocol, member, member.turns.length - 1);
  return {
    member: { ...member, phase: { type: "ended", termination } },
    commands: [
      { type: "grade", key: keyOf(plan, group, member), finalText, answer: group.problem.answer },
    ],
  };
}

/** Infrastructure broke: this trajectory is unscored, its siblings go on (fault 7). */
function lose(member: Member, termination: Termination, failure: Failure): MemberStep {
  const grade: Grade = { kind: "unscored", reason: termination, detail: failure.detail };
  return {
    member: { ...member, failure, phase: { type: "graded", termination, grade } },
    commands: [],
  };
}

function addCall(member: Member, call: ToolCall): Member {
  return { ...member, toolCalls: [...member.toolCalls, call] };
}

function lastCompletion(tokens: Tokens): Int32Array {
  const last = tokens.segments.at(-1);
  if (last?.kind !== "sampled") throw new Error("Expected the last segment to be sampled");
  return last.ids;
}

function keyOf(plan: Plan, group: Group, member: Member): Key {
  return {
    step: plan.step,
    question: group.question,
    group: member.index,
    turn: member.turns.length,
  };
}

function sampleCommand(plan: Plan, key: Key, prompt: Tokens, maxTokens: number): Command {
  const { config, protocol } = plan;
  return {
    type: "sample",
    key,
    request: {
      id: `s${key.step}-q${key.question}-g${key.group ?? "x"}-t${key.turn}`,
      affinity: `s${key.step}-q${key.question}`,
      prompt,
      samples: key.group === null ? config.groupSize : 1,
      maxTokens,
      temperature: config.temperature,
      topP: config.topP,
      topK: config.topK,
      seed: requestSeed(config, key),
      stopIds: protocol.stopIds,
    },
  };
}

function expectCount(event: Sampled, count: number): void {
  if (event.sequences.length === count) return;
  throw new Error(
    `Event ${formatKey(event.key)} must hold ${count} sequences, it holds ${event.sequences.length}`,
  );
}

function expectPhase(
  member: Member,
  event: Event,
  type: Member["phase"]["type"],
  turn: number,
): void {
  if (member.phase.type === type && event.key.turn === turn) return;
  throw new Error(
    `Event ${event.type} ${formatKey(event.key)} does not fit: member ${member.index} is ${member.phase.type} after ${member.turns.length} turns`,
  );
}
