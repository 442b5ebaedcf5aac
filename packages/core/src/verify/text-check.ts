/**
 * What only the tokenizer and the chat template can tell: that texts are what the ids decode to, and that every
 * context token is what the template gives. In: a rebuilt group and its rows. Out: findings.
 */
import type { Protocol } from "../protocol/protocol.ts";
import { extractBoxed } from "../reward/boxed.ts";
import type { Group, Member } from "../rollout/group.ts";
import type { Reporter } from "./report.ts";
import type { TrajectoryRow } from "./trajectory-row.ts";

type Where = { readonly where: string; readonly row: number };

/** Needs no tokenizer: the verdict must stand for the box of the last turn's own text. */
export function checkGradedText(row: TrajectoryRow, at: Where, out: Reporter): void {
  const last = row.turns.at(-1);
  if (last === undefined || row.grade.kind === "unscored") return;
  const box = extractBoxed(last.text);
  out.expect("grade", row.grade.answer === box, { ...at, column: "grade" }, box, row.grade.answer);
}

/** Needs no tokenizer: messages say what turns and tool calls say. */
export function checkMessages(row: TrajectoryRow, at: Where, out: Reporter): void {
  const said = row.messages.filter(({ role }) => role === "assistant").map((m) => m.content);
  const told = row.messages.filter(({ role }) => role === "tool").map((m) => m.content);
  const turns = row.turns.map(({ text }) => text);
  const joined = row.toolCalls.map(({ content }) => content).filter((content) => content !== null);
  compareTexts(turns, said, at, out);
  compareTexts(joined, told, at, out);
}

function compareTexts(
  expected: readonly string[],
  seen: readonly string[],
  at: Where,
  out: Reporter,
): void {
  for (let i = 0; i < Math.max(expected.length, seen.length); i++) {
    const place = { ...at, column: "messages", position: i };
    const [want, have] = [expected[i] ?? "no message", seen[i] ?? "no message"];
    out.expect("text", want === have, place, want, have);
  }
}

export function checkTexts(
  protocol: Protocol,
  group: Group,
  rows: readonly TrajectoryRow[],
  at: readonly Where[],
  out: Reporter,
): void {
  const first = protocol.firstPrompt(group.problem.question);
  for (const [i, member] of group.members.entries()) {
    const row = rows[i];
    const place = at[i];
    if (row === undefined || place === undefined) continue;
    compareIds(first, member.tokens.segments[0]?.ids ?? new Int32Array(), 0, place, out);
    checkMember(protocol, member, row, place, out);
  }
}

function checkMember(
  protocol: Protocol,
  member: Member,
  row: TrajectoryRow,
  at: Where,
  out: Reporter,
): void {
  let turn = -1;
  let start = 0;
  let completion: Int32Array = new Int32Array();
  const joined = row.toolCalls.filter(({ content }) => content !== null);
  let joins = 0;
  for (const { kind, ids } of member.tokens.segments) {
    if (kind === "sampled") {
      turn += 1;
      completion = ids;
      const text = protocol.decodeTurn(ids);
      const seen = row.turns[turn]?.text;
      out.expect("text", text === seen, { ...at, column: "turns", position: turn }, text, seen);
    }
    if (kind === "observed") {
      const content = joined[joins]?.content;
      const expected = protocol.joinObservation(completion, content ?? "", joins);
      compareIds(expected, ids, start, at, out);
      joins += 1;
    }
    start += ids.length;
  }
}

function compareIds(
  expected: Int32Array,
  seen: Int32Array,
  start: number,
  at: Where,
  out: Reporter,
): void {
  out.checked("template", expected.length);
  const length = Math.max(expected.length, seen.length);
  for (let i = 0; i < length; i++) {
    if (expected[i] === seen[i]) continue;
    const place = { ...at, column: "tokens", position: start + i };
    out.fail("template", place, expected[i] ?? "no token", seen[i] ?? "no token");
    return;
  }
}
