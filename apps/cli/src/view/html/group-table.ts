/** A step at a glance: a line for each group, a mark for each trajectory, links to what is on the page. */
import { rewardStats, type MemberTally, type StepTally } from "../tally.ts";
import { fold, formatSigned, wideTable } from "./facts.ts";
import { markup, type Html } from "./markup.ts";

const HEADINGS = [
  "question",
  "problem",
  "right ✓, wrong ✗, failed ?",
  "scored",
  "reward mean",
  "reward std",
];

function memberMark(question: number, { index, kinds, isShown }: MemberTally): Html {
  const mark = kinds.includes("right") ? "✓" : kinds.includes("wrong") ? "✗" : "?";
  return isShown
    ? markup`<a href="#q${question}-t${index}" title="#${index}">${mark}</a> `
    : markup`${mark} `;
}

export function groupTable({ groups }: StepTally): Html {
  const rows = groups.map(({ question, problemId, members, shown }) => {
    const { scored, mean, std } = rewardStats(members.map(({ reward }) => reward));
    const name = shown > 0 ? markup`<a href="#q${question}">${question}</a>` : markup`${question}`;
    return markup`<tr>
      <th scope="row">${name}</th>
      <td class="name">${problemId}</td>
      <td>${members.map((member) => memberMark(question, member))}</td>
      <td>${scored}</td>
      <td>${formatSigned(mean)}</td>
      <td>${std === null ? "–" : std.toFixed(4)}</td>
    </tr>`;
  });
  const table = wideTable(HEADINGS, rows);
  return fold(`Groups (${groups.length})`, table, groups.length <= 32);
}
