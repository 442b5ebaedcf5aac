/** In: a report, and how far the run is. Out: a short table for a person, or JSON; rules in the order in which they are defined. */
import { RULES, type Report, type Rule, type VerifyFinding } from "@interlace/core";
import { formatCount, formatPlural } from "../terminal/format.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** How far a run is; null in its place = a lone file. */
export type Progress = {
  readonly hasChecked: boolean;
  readonly unfinished: readonly number[];
  /** What a person can do about an unfinished step. */
  readonly goOn: string;
};

/** Nothing broken, and something checked: of a run without a whole step nothing can be said. */
export function holds(report: Report, progress: Progress | null): boolean {
  return report.failed.size === 0 && (progress?.hasChecked ?? true);
}

export function printReport(
  report: Report,
  progress: Progress | null,
  json: boolean,
  terminal: Terminal,
): void {
  if (json) {
    terminal.out(JSON.stringify(reportToJson(report, progress)));
    return;
  }
  for (const rule of Object.keys(RULES) as Rule[]) {
    const line = describeRule(rule, report, terminal);
    if (line !== null) terminal.out(line);
  }
  for (const finding of report.findings) {
    terminal.out("");
    for (const line of describeFinding(finding, terminal)) terminal.out(line);
  }
  terminal.out("");
  for (const step of progress?.unfinished ?? []) {
    terminal.out(`step ${step} is not finished: ${progress?.goOn}`);
  }
  terminal.out(summary(report, progress, terminal));
}

function describeRule(rule: Rule, report: Report, terminal: Terminal): string | null {
  const checked = report.checked.get(rule);
  const failed = report.failed.get(rule);
  const skipped = report.skipped.get(rule);
  const name = rule.padEnd(16);
  if (failed !== undefined) {
    return `${terminal.paint("FAIL", "red", "bold")}  ${name} ${formatPlural(failed, "finding")}: ${RULES[rule]}`;
  }
  if (checked !== undefined) {
    const partly = skipped === undefined ? "" : `; not everywhere: ${skipped}`;
    return `${terminal.paint("ok", "green")}    ${name} ${formatCount(checked).padStart(12)} checked: ${RULES[rule]}${partly}`;
  }
  if (skipped === undefined) return null;
  return `${terminal.paint("–", "yellow")}     ${name} not checked: ${skipped}`;
}

function describeFinding(finding: VerifyFinding, terminal: Terminal): readonly string[] {
  const { rule, where, row, column, position, expected, seen } = finding;
  const place = [
    where,
    row === null ? null : `row ${row}`,
    column,
    position === null ? null : `position ${position}`,
  ].filter((part) => part !== null);
  return [
    `${terminal.paint(rule, "red", "bold")}  ${place.join(", ")}`,
    `  expected  ${expected}`,
    `  seen      ${seen}`,
  ];
}

function summary(report: Report, progress: Progress | null, terminal: Terminal): string {
  const failed = [...report.failed.values()].reduce((sum, count) => sum + count, 0);
  const rules = report.checked.size;
  if (failed === 0 && !holds(report, progress)) {
    return terminal.paint("Nothing was checked: the run has no finished step", "red", "bold");
  }
  if (failed === 0) {
    const text = rules === 1 ? "1 rule holds" : `All ${rules} rules hold`;
    return terminal.paint(text, "green", "bold");
  }
  const kept = report.findings.length < failed ? `, the first ${report.findings.length} shown` : "";
  const text = `${formatPlural(failed, "finding")} against ${formatPlural(report.failed.size, "rule")}${kept}`;
  return terminal.paint(text, "red", "bold");
}

function reportToJson(report: Report, progress: Progress | null): object {
  return {
    ok: holds(report, progress),
    unfinished: progress?.unfinished ?? [],
    checked: Object.fromEntries(report.checked),
    failed: Object.fromEntries(report.failed),
    skipped: Object.fromEntries(report.skipped),
    findings: report.findings,
  };
}
