/** One trajectory, to be opened: its outcome, then turn after turn as the model wrote and read them. */
import type { DatumRow, ReadTurn, TrajectoryRow } from "@interlace/train-bridge";
import { formatPlural, formatSeconds } from "../../terminal/format.ts";
import { kindsOf } from "../choice.ts";
import { tokenRuns, type TokenRun } from "../token-runs.ts";
import type { TokenTexts } from "../token-texts.ts";
import { facts, formatSigned, notice, textBlock, textBox, type Fact } from "./facts.ts";
import { markup, shownText, type Html } from "./markup.ts";
import { renderTokens } from "./tokens.ts";
import { toolCall } from "./tool-call.ts";

export type TrajectoryParts = {
  readonly row: TrajectoryRow;
  readonly datum: DatumRow | null;
  /** null = no tokenizer is at hand: texts are shown as they were recorded. */
  readonly texts: TokenTexts | null;
  /** null = not known. */
  readonly reference: string | null;
  /** The prompt where it is not its group's own; a damaged file's. */
  readonly ownPrompt: Html | null;
  readonly open: boolean;
};

export function trajectory(parts: TrajectoryParts): Html {
  const { row, open } = parts;
  const kinds = kindsOf(row);
  const [verdict = "failed"] = kinds;
  const head = [
    row.reward === null ? "unscored" : `reward ${formatSigned(row.reward)}`,
    `advantage ${formatSigned(row.advantage)}`,
    formatPlural(row.turns.length, "turn"),
    formatPlural(row.toolCalls.length, "tool call"),
    formatPlural(row.tokens.length, "token"),
    row.termination,
    ...(kinds.includes("truncated") ? ["truncated"] : []),
  ];
  const content = markup`<summary>
      <span class="verdict ${verdict}">${verdict}</span>
      <span class="name">#${row.groupIndex}</span> ${head.join(" · ")}
    </summary>
    ${facts(outcome(parts))}
    ${row.failure === null ? null : notice(`Broke at the ${row.failure.boundary}: ${row.failure.cause}: ${row.failure.detail}`)}
    ${parts.ownPrompt}${conversation(parts)}`;
  const id = `q${row.questionIndex}-t${row.groupIndex}`;
  return open
    ? markup`<details class="trajectory ${kinds.join(" ")}" id="${id}" open>${content}</details>`
    : markup`<details class="trajectory ${kinds.join(" ")}" id="${id}">${content}</details>`;
}

function outcome({ row, datum, reference }: TrajectoryParts): readonly Fact[] {
  const { logprobs } = row;
  const mean =
    logprobs.length === 0 ? null : logprobs.reduce((sum, each) => sum + each, 0) / logprobs.length;
  const prompt = row.turns[0]?.prompt_length ?? row.tokens.length;
  return [
    ["verdict", verdictOf(row.grade)],
    ["final answer", row.finalAnswer === null ? "none" : shownText(row.finalAnswer)],
    ["reference", reference === null ? "not known" : shownText(reference)],
    ["end", row.termination],
    ["reward", formatSigned(row.reward)],
    ["advantage", formatSigned(row.advantage)],
    [
      "tokens",
      `${row.tokens.length} = ${prompt} prompt + ${logprobs.length} sampled + ${row.tokens.length - prompt - logprobs.length} read`,
    ],
    ["mean logprob", mean === null ? null : mean.toFixed(4)],
    [
      "datum",
      datum === null
        ? `none: ${row.noDatum ?? "not told"}`
        : `micro-batch ${datum.microBatch}, weight ${datum.sampleWeight.toPrecision(4)}`,
    ],
    ["weights", weightsOf(row.turns)],
  ];
}

function verdictOf({ kind, by, reason, detail }: TrajectoryRow["grade"]): string {
  return kind === "unscored" ? `unscored: ${reason}: ${detail}` : `${kind}, by ${by}`;
}

/** Versions in the order in which they were met. */
function weightsOf(turns: readonly ReadTurn[]): string {
  const names = new Set(
    turns.flatMap(({ versions }) => versions.map(({ version }) => version ?? "not told")),
  );
  return names.size === 0 ? "not told" : [...names].join(" → ");
}

function conversation({ row, datum, texts }: TrajectoryParts): readonly Html[] {
  const runs = tokenRuns(row);
  const sampled = runs.filter(({ kind }) => kind === "sampled");
  const observed = runs.filter(({ kind }) => kind === "observed");
  const show = (run: TokenRun | undefined, text: string): Html =>
    texts === null || run === undefined
      ? textBlock(text, "plain")
      : textBox(renderTokens(run, datum?.datum ?? null, texts), "tokens");
  let joined = 0;
  return row.turns.flatMap((turn, index) => [
    markup`<div class="turn assistant">
      <h5><span class="role">assistant</span> ${turnHead(turn, index)}</h5>
      ${show(sampled[index], turn.text)}
    </div>`,
    ...row.toolCalls
      .filter((call) => call.turn === index)
      .map((call) =>
        toolCall(call, call.content === null ? null : show(observed[joined++], call.content)),
      ),
  ]);
}

function turnHead(turn: ReadTurn, index: number): string {
  const { start_time: start, end_time: end, versions } = turn;
  // One span over the whole turn is said above.
  const spans = versions.map(
    (span) => `${span.version ?? "not told"} [${span.start}, ${span.end})`,
  );
  return [
    `turn ${index + 1}`,
    formatPlural(turn.length, "token"),
    `finish ${turn.finish}`,
    turn.parsed === null ? "not parsed" : `parsed as ${turn.parsed}`,
    ...(turn.invalid_cause === null ? [] : [turn.invalid_cause]),
    ...(start === null || end === null ? [] : [formatSeconds((end - start) / 1000)]),
    `seed ${turn.seed}`,
    ...(versions.length > 1 ? [`weights ${spans.join(", ")}`] : []),
    ...(turn.text_mismatch ? ["the server's text is not what the ids decode to"] : []),
  ].join(" · ");
}
