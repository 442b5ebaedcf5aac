/** Everything that was read, as the parts of a page, group by group. Writes nothing. */
import type { RunRecord } from "../run-folder/run-record.ts";
import { formatCount, formatPlural } from "../terminal/format.ts";
import { isChosen, type Choice } from "./choice.ts";
import type { ViewedStep } from "./find-step.ts";
import { notice } from "./html/facts.ts";
import { groupHead, hasPromptOf, promptOf } from "./html/group.ts";
import { markup, type Html } from "./html/markup.ts";
import type { PageParts } from "./html/page.ts";
import { runHeader } from "./html/run-header.ts";
import { stepSummary } from "./html/step-summary.ts";
import { trajectory } from "./html/trajectory.ts";
import type { AtHand, References } from "./open-texts.ts";
import type { StepFiles } from "./step-files.ts";
import { groupRows, leftOut, type StepTally } from "./tally.ts";
import type { TokenTexts } from "./token-texts.ts";

/** So few are read from top to bottom; of more, one looks at the heads first. */
const FEW = 8;

export type StepPageInput = {
  readonly record: RunRecord;
  readonly viewed: ViewedStep;
  readonly files: StepFiles;
  readonly texts: AtHand<TokenTexts>;
  readonly references: AtHand<References>;
  readonly choice: Choice;
  readonly tally: StepTally;
};

export function stepPage(input: StepPageInput): PageParts {
  const { record, viewed, files, texts, references, choice, tally } = input;
  const left = leftOut(tally);
  const missing = [
    ...(texts.here
      ? []
      : [`Texts are shown as they were recorded, without tokens and colours: ${texts.why}.`]),
    ...(references.here ? [] : [`Reference answers are not shown: ${references.why}.`]),
  ];
  return {
    title: `Run ${record.run_id}, step ${viewed.step}`,
    logprobKind: files.metadata.logprobKind,
    head: markup`${runHeader(record, files.metadata)} ${stepSummary(viewed, tally, files.ledger)}
      <h2>Trajectories</h2>
      <p>${describeChoice(choice, tally)}</p>
      ${missing.map(notice)}`,
    body: groups(input),
    foot: markup`<footer>${left === null ? null : notice(left)}</footer>`,
  };
}

function describeChoice({ question, only }: Choice, tally: StepTally): string {
  const { chosen, shown, trajectories } = tally;
  const what = [
    ...(only === null ? [] : [only]),
    ...(question === null ? [] : [`of question ${question}`]),
  ].join(", ");
  const of = what === "" ? "" : ` that are ${what}`;
  if (chosen === 0) return `None of ${formatCount(trajectories)} is ${what}.`;
  const left = leftOut(tally);
  return `${formatCount(shown)} of ${formatPlural(chosen, "trajectory").replace(/ys$/, "ies")}${of}${left === null ? "" : `; ${left}`}.`;
}

function* groups({ files, texts, references, choice, tally }: StepPageInput): Generator<Html> {
  const tokenTexts = texts.here ? texts.value : null;
  let place = 0;
  let left = tally.shown;
  for (const rows of groupRows(files.rows)) {
    // The rest of the file is not read.
    if (left === 0) return;
    const shown = tally.groups[place++]?.shown ?? 0;
    const [first] = rows;
    if (shown === 0 || first === undefined) continue;
    left -= shown;
    const reference = references.here ? references.value(first) : null;
    yield markup`<section class="group">${groupHead(rows, shown, reference, tokenTexts)}`;
    for (const row of rows.filter((each) => isChosen(each, choice)).slice(0, shown)) {
      yield trajectory({
        row,
        datum: files.datumOf(row),
        texts: tokenTexts,
        reference,
        ownPrompt: hasPromptOf(row, first) ? null : promptOf(row, tokenTexts),
        open: tally.shown <= FEW,
      });
    }
    yield markup`</section>`;
  }
}
