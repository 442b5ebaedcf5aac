/** In: summaries of evaluations. Out: what a person reads of each. */
import { formatCount, formatCounts } from "../terminal/format.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { SummaryLine } from "./summary-line.ts";

export function printSummary(summary: SummaryLine, path: string, terminal: Terminal): void {
  const n = summary.val_n;
  const rows: [string, string][] = [
    [`average@${n}`, share(summary.average_at_n, summary["average_at_n_se"])],
    [`pass@${n}`, share(summary.pass_at_n, summary["pass_at_n_se"])],
    ["pass@k", series(summary["pass_at_k"])],
    ["pass^k", series(summary["pass_hat_k"])],
    [`majority@${n}`, share(Number(summary["majority_at_n"]), summary["majority_at_n_se"])],
    ["format", share(summary.format_rate, summary["format_rate_se"])],
    [
      "effort",
      `${summary.mean_turns.toFixed(2)} turns, ${summary.mean_code_calls.toFixed(2)} tool results joined`,
    ],
    ["unscored", unscored(summary)],
    ["file", path],
  ];
  const title =
    `${textOf(summary["checkpoint"])} on ${summary.dataset}, ${summary.mode}: ` +
    `${formatCount(summary.problems)} problems × ${n} = ${formatCount(summary.generations)} generations`;
  terminal.out("");
  terminal.out(terminal.paint(title, "bold"));
  for (const [name, text] of rows) {
    terminal.out(`  ${terminal.paint(name.padEnd(12), "dim")}${text}`);
  }
}

/** `62.5% ± 3.1%`: the standard error over problems. */
function share(value: number, error: unknown): string {
  return typeof error === "number" ? `${percent(value)} ± ${percent(error)}` : percent(value);
}

function series(byK: unknown): string {
  return Object.entries(byK as Readonly<Record<string, number>>)
    .map(([k, value]) => `${k}: ${percent(value)}`)
    .join(" · ");
}

function unscored(summary: SummaryLine): string {
  const reasons = summary["unscored"] as Readonly<Record<string, number>>;
  const count = Number(summary["unscored_generations"]);
  return count === 0 ? "none" : `${formatCount(count)} (${formatCounts(reasons)})`;
}

function percent(value: number): string {
  return `${(value * 100).toFixed(1)}%`;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "model";
}
