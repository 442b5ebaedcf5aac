/** Collects what was checked, what was found and what could not be checked. Keeps the first findings of each rule. */
import type { Rule } from "./rules.ts";

export type Finding = {
  readonly rule: Rule;
  /** File or table, as the person named it. */
  readonly where: string;
  /** null = it concerns the whole file. */
  readonly row: number | null;
  readonly column: string | null;
  readonly position: number | null;
  readonly expected: string;
  readonly seen: string;
};

export type Report = {
  /** Values held against each rule. */
  readonly checked: ReadonlyMap<Rule, number>;
  /** All findings by rule, also those not kept. */
  readonly failed: ReadonlyMap<Rule, number>;
  readonly findings: readonly Finding[];
  /** Rules that could not be checked, with the reason. */
  readonly skipped: ReadonlyMap<Rule, string>;
};

/** Where a finding lies; what is left out is null. */
export type Place = {
  readonly where: string;
  readonly row?: number;
  readonly column?: string;
  readonly position?: number;
};

export type Reporter = {
  readonly checked: (rule: Rule, count?: number) => void;
  readonly fail: (rule: Rule, place: Place, expected: unknown, seen: unknown) => void;
  /** Counts one value, and a finding unless `holds`. */
  readonly expect: (
    rule: Rule,
    holds: boolean,
    place: Place,
    expected: unknown,
    seen: unknown,
  ) => void;
  readonly skip: (rule: Rule, why: string) => void;
  readonly report: () => Report;
};

export function createReporter(options: { readonly keepPerRule?: number } = {}): Reporter {
  const keep = options.keepPerRule ?? 5;
  const checked = new Map<Rule, number>();
  const failed = new Map<Rule, number>();
  const skipped = new Map<Rule, string>();
  const findings: Finding[] = [];
  const add = (map: Map<Rule, number>, rule: Rule, count: number) =>
    map.set(rule, (map.get(rule) ?? 0) + count);

  function fail(rule: Rule, place: Place, expected: unknown, seen: unknown): void {
    add(failed, rule, 1);
    if ((failed.get(rule) ?? 0) > keep) return;
    const { where, row = null, column = null, position = null } = place;
    findings.push({
      rule,
      where,
      row,
      column,
      position,
      expected: show(expected),
      seen: show(seen),
    });
  }

  return {
    checked: (rule, count = 1) => void add(checked, rule, count),
    fail,
    expect(rule, holds, place, expected, seen) {
      add(checked, rule, 1);
      if (!holds) fail(rule, place, expected, seen);
    },
    skip: (rule, why) => void skipped.set(rule, why),
    report: () => ({ checked, failed, findings, skipped }),
  };
}

const MAX_SHOWN = 120;

function show(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`;
}
