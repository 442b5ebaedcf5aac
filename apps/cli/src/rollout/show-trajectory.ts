/** In: one trajectory. Out: its lines as a person would read the conversation, with token counts and the reward. */
import {
  messagesOf,
  turnIds,
  type GradedMember,
  type ScoredTrajectory,
  type StepDatums,
} from "@interlace/core";
import { formatPlural, formatReward } from "../terminal/format.ts";
import type { Paint, Terminal } from "../terminal/terminal.ts";
import type { Language } from "./open-language.ts";

const ROLE_PAINTS: Readonly<Record<string, Paint>> = {
  system: "magenta",
  user: "cyan",
  assistant: "green",
  tool: "yellow",
};
const MARGIN = 11;
/** Longer texts show their beginning and their end. */
const MAX_LINES = 24;

/** One that shows what it is about: a right answer by way of the tool, else the closest to it. */
export function chooseExample({ trajectories }: StepDatums): ScoredTrajectory | null {
  const rank = ({ score, member }: ScoredTrajectory): number =>
    (member.codeCalls > 0 ? 2 : 0) + (score?.correct === true ? 1 : 0);
  let best: ScoredTrajectory | null = null;
  for (const each of trajectories) {
    if (each.member.turns.length > 0 && (best === null || rank(each) > rank(best))) best = each;
  }
  return best;
}

export function showTrajectory(
  language: Language,
  { group, member, score, advantage }: ScoredTrajectory,
  terminal: Terminal,
): readonly string[] {
  const { problem } = group;
  const lines = [
    terminal.paint(
      `One of them: problem ${problem.id}, trajectory ${member.index} of its group, reference answer ${problem.answer}`,
      "bold",
    ),
  ];
  const first = language.firstMessages(problem);
  const promptTokens = member.turns[0]?.promptLength ?? 0;
  for (const { role, content } of first) lines.push(...block(role, content, "", terminal));
  lines.push(
    ...aside(`${formatPlural(promptTokens, "prompt token")}, template and tool included`, terminal),
  );
  const observed = member.tokens.segments.filter(({ kind }) => kind === "observed");
  let turn = 0;
  let joined = 0;
  for (const { role, content } of messagesOf(language.protocol, member)) {
    const count =
      role === "assistant" ? turnIds(member, turn++).length : (observed[joined++]?.ids.length ?? 0);
    const what = role === "assistant" ? "sampled" : "observed";
    lines.push(...block(role, content, `${formatPlural(count, "token")} ${what}`, terminal));
  }
  const reward =
    score === null
      ? "unscored"
      : `reward ${formatReward(score.reward)} (${score.correct ? "right" : score.validFormat ? "wrong" : "no boxed answer"})`;
  const details = [
    reward,
    ...(advantage === null ? [] : [`advantage ${formatReward(advantage)}`]),
    `ended by ${endOf(member)}`,
    formatPlural(member.turns.length, "turn"),
    formatPlural(member.codeCalls, "tool call"),
    formatPlural(member.tokens.length, "token"),
  ];
  const paint = score?.correct === true ? "green" : "red";
  lines.push(terminal.paint(details.join(" · "), paint));
  return lines;
}

function endOf(member: GradedMember): string {
  return member.phase.termination;
}

function block(role: string, content: string, note: string, terminal: Terminal): readonly string[] {
  const head = terminal.paint(role.padEnd(MARGIN), ROLE_PAINTS[role] ?? "bold");
  const [first = "", ...rest] = shorten(printable(content).replace(/\n$/, "").split("\n"));
  const tail = note === "" ? [] : aside(note, terminal);
  return [`${head}${first}`, ...rest.map((line) => `${" ".repeat(MARGIN)}${line}`), ...tail];
}

function aside(note: string, terminal: Terminal): readonly string[] {
  return [`${" ".repeat(MARGIN)}${terminal.paint(note, "dim")}`];
}

function shorten(lines: readonly string[]): readonly string[] {
  if (lines.length <= MAX_LINES) return lines;
  const half = MAX_LINES / 2;
  const omitted = lines.length - 2 * half;
  return [...lines.slice(0, half), `… ${formatPlural(omitted, "line")} …`, ...lines.slice(-half)];
}

/** What a model or its code wrote must not steer the terminal. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, (char) =>
    char === "\n" || char === "\t"
      ? char
      : `\\x${(char.codePointAt(0) ?? 0).toString(16).padStart(2, "0")}`,
  );
}
