/** Below the run: verdicts, metrics and ledger of the step, and a line for each other step. */
import type { Ledger } from "@interlace/core";
import type { MetricsLine } from "../../run-folder/metrics-file.ts";
import { formatPlural } from "../../terminal/format.ts";
import { KIND_MEANINGS, KINDS } from "../choice.ts";
import { listSpans, type ViewedStep } from "../find-step.ts";
import type { StepTally } from "../tally.ts";
import { fold, formatNumber, notice, numberTable, wideTable } from "./facts.ts";
import { groupTable } from "./group-table.ts";
import { ledgerTables } from "./ledger-tables.ts";
import { markup, type Html } from "./markup.ts";

const COMPARED = [
  "reward/mean",
  "reward/correct",
  "rollout/turns",
  "rollout/code_calls",
  "rollout/trajectory_tokens",
  "rollout/truncated_rate",
  "time/step_seconds",
] as const;

/** A page is no plot: of a long run the last steps are compared. */
const MOST_COMPARED = 200;

export function stepSummary(viewed: ViewedStep, tally: StepTally, ledger: Ledger | null): Html {
  const own = viewed.metrics.find(({ step }) => step === viewed.step);
  const verdicts = KINDS.map(
    (kind) =>
      markup`<div class="${kind}">
        <dt>${kind}</dt>
        <dd title="${KIND_MEANINGS[kind]}">${tally.kinds[kind].toLocaleString("en-US")}</dd>
      </div>`,
  );
  return markup`<section class="step">
    <h2>Step ${viewed.step}</h2>
    <dl class="verdicts">
      <div>
        <dt>trajectories</dt>
        <dd>${tally.trajectories.toLocaleString("en-US")}</dd>
      </div>
      ${verdicts}
    </dl>
    ${describeSteps(viewed)}
    ${own === undefined ? notice("metrics.jsonl has no line of this step: it was not written to the end.") : fold("Metrics", numberTable(metricRows(own)))}
    ${ledger === null ? notice("ledger.json cannot be read; interlace verify says why.") : fold("Ledger", ledgerTables(ledger))}
    ${groupTable(tally)}
  </section>`;
}

function describeSteps({ step, whole, open, metrics }: ViewedStep): Html {
  const others = whole.filter((each) => each !== step);
  const lines: Html[] = [];
  if (open.length > 0) {
    const pronoun = open.length === 1 ? "it has" : "they have";
    lines.push(
      notice(
        `Interrupted or under way: ${listSpans(open)}; ${pronoun} a log and no Arrow files yet; --resume goes on.`,
      ),
    );
  }
  if (others.length > 0) {
    lines.push(markup`<p>Also in this run: ${listSpans(others)}; --step N shows one.</p>`);
    lines.push(fold(`All steps (${metrics.length})`, compareSteps(metrics, step)));
  }
  return markup`${lines}`;
}

function compareSteps(metrics: readonly MetricsLine[], shown: number): Html {
  const last = metrics.slice(-MOST_COMPARED);
  const left = metrics.length - last.length;
  const rows = last.map((line) => {
    const cells = COMPARED.map(
      (name) => markup`<td>${formatNumber(line[name] ?? Number.NaN)}</td>`,
    );
    const mark = line.step === shown ? "shown" : "";
    return markup`<tr class="${mark}">
      <th scope="row">${line.step}</th>
      ${cells}
    </tr>`;
  });
  return markup`${left === 0 ? null : markup`<p>${formatPlural(left, "earlier step")} left out; metrics.jsonl has them.</p>`}
${wideTable(["step", ...COMPARED], rows)}`;
}

function metricRows(line: MetricsLine): readonly (readonly [string, string])[] {
  return Object.entries(line)
    .filter(([name]) => name !== "step")
    .map(([name, value]) => [name, formatNumber(value)]);
}
