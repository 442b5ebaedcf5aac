/** One problem: its question once, the prompt that all of its trajectories begin with, and those that were chosen. */
import type { TrajectoryRow } from "@interlace/train-bridge";
import { formatPlural } from "../../terminal/format.ts";
import { rewardStats } from "../tally.ts";
import { tokenRuns } from "../token-runs.ts";
import type { TokenTexts } from "../token-texts.ts";
import { facts, fold, formatSigned, textBlock, textBox } from "./facts.ts";
import { markup, shownText, type Html } from "./markup.ts";
import { renderTokens } from "./tokens.ts";

/** `rows`: the whole group; `shown`: how many of it follow. */
export function groupHead(
  rows: readonly TrajectoryRow[],
  shown: number,
  reference: string | null,
  texts: TokenTexts | null,
): Html {
  const [first] = rows;
  if (first === undefined) return markup``;
  const { scored, mean, std } = rewardStats(rows.map(({ reward }) => reward));
  const right = rows.filter(({ correct }) => correct === true).length;
  return markup`<h3 id="q${first.questionIndex}">
      Question ${first.questionIndex} <span class="name">${first.problemId}</span>
    </h3>
    ${textBlock(questionOf(first), "problem")}
    ${facts([
      ["reference", reference === null ? "not known" : shownText(reference)],
      ["reward mean", formatSigned(mean)],
      ["reward std", std === null ? "–" : std.toFixed(4)],
      ["right", `${right} of ${rows.length}`],
      ["scored", scored],
      ["shown", `${shown} of ${rows.length}`],
      ["data source", first.dataSource],
    ])}
    ${promptOf(first, texts)}`;
}

/** What is before the first sampled token: messages, and the tokens that the template made of them. */
export function promptOf(row: TrajectoryRow, texts: TokenTexts | null): Html {
  const [run] = tokenRuns(row);
  const messages = firstMessages(row).map(
    ({ role, content }) =>
      markup`<div class="turn">
        <h5><span class="role">${role}</span></h5>
        ${textBlock(content)}
      </div>`,
  );
  const tokens =
    texts === null || run === undefined
      ? markup``
      : markup`<div class="turn">
          <h5><span class="role">as tokens</span></h5>
          ${textBox(renderTokens(run, null, texts), "tokens")}
        </div>`;
  const head = `Prompt: system, question, ${formatPlural(run?.ids.length ?? 0, "token")}`;
  return fold(head, [...messages, tokens]);
}

/** Siblings share the prompt; a damaged file's row may not. */
export function hasPromptOf(row: TrajectoryRow, first: TrajectoryRow): boolean {
  const [own, shared] = [tokenRuns(row)[0], tokenRuns(first)[0]];
  return (
    Bun.deepEquals(own?.ids, shared?.ids) &&
    Bun.deepEquals(firstMessages(row), firstMessages(first))
  );
}

function firstMessages({ messages }: TrajectoryRow): TrajectoryRow["messages"] {
  const end = messages.findIndex(({ role }) => role === "assistant");
  return end === -1 ? messages : messages.slice(0, end);
}

function questionOf(row: TrajectoryRow): string {
  return firstMessages(row).find(({ role }) => role === "user")?.content ?? "";
}
