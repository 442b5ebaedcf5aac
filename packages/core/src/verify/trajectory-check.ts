/** One row of `trajectories.arrow` by itself: spans, turns, ends. In: a row. Out: findings. */
import { TERMINATIONS } from "../rollout/group.ts";
import { isLogprob, LOGPROB_RANGE } from "../tokens/logprob.ts";
import type { Reporter } from "./report.ts";
import type { TrajectoryRow, TurnRecord } from "./trajectory-row.ts";

export type TrajectoryFacts = {
  readonly groupSize: number;
  readonly vocabSize: number;
  /** null = the run's configuration is not at hand. */
  readonly maxTrajectoryTokens: number | null;
};

type Where = { readonly where: string; readonly row: number };

const KINDS = new Set(["context", "sampled", "observed"]);
const LOST = new Set(["sampler_failed", "tool_failed", "aborted"]);

/** false = spans, turns or logprobs do not fit its tokens: nothing can be rebuilt from it. */
export function checkTrajectory(
  row: TrajectoryRow,
  facts: TrajectoryFacts,
  at: Where,
  out: Reporter,
): boolean {
  checkIds(row, facts, at, out);
  checkEnd(row, at, out);
  const isMeasured = checkLogprobs(row, at, out);
  return checkSpans(row, at, out) && checkTurns(row, facts, at, out) && isMeasured;
}

function checkIds({ tokens }: TrajectoryRow, facts: TrajectoryFacts, at: Where, out: Reporter) {
  out.checked("ids_in_vocab", tokens.length);
  const position = tokens.findIndex((id) => id < 0 || id >= facts.vocabSize);
  if (position === -1) return;
  const place = { ...at, column: "tokens", position };
  out.fail("ids_in_vocab", place, `0 ≤ id < ${facts.vocabSize}`, tokens[position]);
}

function checkLogprobs({ logprobs }: TrajectoryRow, at: Where, out: Reporter): boolean {
  out.checked("logprobs", logprobs.length);
  const position = logprobs.findIndex((value) => !isLogprob(value));
  if (position === -1) return true;
  const place = { ...at, column: "logprobs", position };
  out.fail("logprobs", place, LOGPROB_RANGE, String(logprobs[position]));
  return false;
}

function checkSpans({ spans, tokens, logprobs, turns }: TrajectoryRow, at: Where, out: Reporter) {
  const column = "spans";
  let end = 0;
  let sampled = 0;
  let completions = 0;
  let holds = true;
  const expect = (ok: boolean, position: number | null, expected: unknown, seen: unknown) => {
    const place = position === null ? { ...at, column } : { ...at, column, position };
    out.expect("spans", ok, place, expected, seen);
    holds &&= ok;
  };
  for (const [i, { kind, start, length }] of spans.entries()) {
    expect(KINDS.has(kind) && (kind === "context") === (i === 0), i, "context, then others", kind);
    expect(start === end && length >= 0, i, `start ${end}`, `start ${start}, length ${length}`);
    if (kind === "sampled") {
      sampled += length;
      completions += 1;
    }
    end = start + length;
  }
  expect(end === tokens.length, null, `the spans end at ${tokens.length}`, end);
  expect(
    sampled === logprobs.length,
    null,
    `${logprobs.length} sampled tokens, as logprobs`,
    sampled,
  );
  expect(
    completions === turns.length,
    null,
    `${turns.length} sampled spans, as turns`,
    completions,
  );
  return holds;
}

function checkTurns(row: TrajectoryRow, facts: TrajectoryFacts, at: Where, out: Reporter): boolean {
  let isExtended = true;
  const sampled = row.spans.filter(({ kind }) => kind === "sampled");
  for (const [i, turn] of row.turns.entries()) {
    const span = sampled[i] ?? { start: -1, length: -1 };
    const place = { ...at, column: "turns", position: i };
    const seen = `${turn.prompt_length} + ${turn.length}`;
    const holds = turn.prompt_length === span.start && turn.length === span.length;
    isExtended &&= holds;
    out.expect("prefix", holds, place, `prompt ${span.start} + completion ${span.length}`, seen);
    const most = facts.maxTrajectoryTokens;
    const end = turn.prompt_length + turn.length;
    if (most !== null) out.expect("budget", end <= most, place, `≤ ${most} tokens`, end);
    checkVersions(turn, place, out);
  }
  return isExtended;
}

function checkVersions(turn: TurnRecord, place: Parameters<Reporter["fail"]>[1], out: Reporter) {
  out.checked("versions");
  let end = 0;
  for (const span of turn.versions) {
    if (span.start !== end || span.end <= span.start) {
      out.fail("versions", place, `a span from ${end}`, `${span.start} to ${span.end}`);
      return;
    }
    end = span.end;
  }
  const isWhole = turn.versions.length === 0 || end === turn.length;
  if (!isWhole) out.fail("versions", place, `spans up to ${turn.length}`, end);
}

function checkEnd(row: TrajectoryRow, at: Where, out: Reporter): void {
  const { termination, grade, failure, toolCalls, codeCalls } = row;
  const expect = (ok: boolean, column: string, expected: unknown, seen: unknown) =>
    out.expect("outcome", ok, { ...at, column }, expected, seen);
  const known = (TERMINATIONS as readonly string[]).includes(termination);
  expect(known, "termination", TERMINATIONS.join(", "), termination);
  const isLost = LOST.has(termination);
  expect((failure !== null) === isLost, "failure", isLost ? "a cause" : "none", failure);
  if (isLost) expect(grade.kind === "unscored", "grade", "unscored", grade.kind);
  const joined = toolCalls.filter(({ content }) => content !== null).length;
  expect(codeCalls === joined, "code_calls", `${joined} joined tool calls`, codeCalls);
  if (grade.kind === "unscored") {
    const scored = [row.reward, row.correct, row.validFormat, row.advantage];
    expect(
      scored.every((value) => value === null),
      "reward",
      "null: unscored",
      scored,
    );
    return;
  }
  expect(
    row.correct === (grade.kind === "equal"),
    "correct",
    `as grade ${grade.kind}`,
    row.correct,
  );
  expect(row.finalAnswer === grade.answer, "final_answer", grade.answer, row.finalAnswer);
  const hasFormat = grade.answer !== null;
  expect(row.validFormat === hasFormat, "valid_format", hasFormat, row.validFormat);
  const isNumber = row.reward !== null && Number.isFinite(row.reward);
  expect(isNumber, "reward", "a finite reward", row.reward);
}
