/** In: replayed steps. Out: what a person, or a program, wants to know of them. */
import type { Metrics } from "@interlace/core";
import { mayShow, NOT_SHOWN, showValue } from "../config/showing.ts";
import type { FoundRun } from "../run-folder/find-run.ts";
import { formatPlural, formatReward, formatShare } from "../terminal/format.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { ConfigChange } from "./change-config.ts";

export type ReplayedStep = {
  readonly step: number;
  readonly groups: number;
  /** Places at which the recording holds no answer. */
  readonly missing: readonly string[];
  /** null = not written, for answers are missing. */
  readonly metrics: Metrics | null;
  /** Files that are not byte for byte the recorded ones; null = not compared. */
  readonly differing: readonly string[] | null;
};

export type ReplayedRun = {
  readonly run: FoundRun;
  readonly steps: readonly ReplayedStep[];
  readonly changes: readonly ConfigChange[];
  readonly out: string | null;
};

const SHOWN_PLACES = 5;

export function printReplay(replayed: ReplayedRun, json: boolean, terminal: Terminal): void {
  const { run, steps, changes, out } = replayed;
  if (json) {
    terminal.out(
      JSON.stringify({ run_id: run.record.run_id, changes: changes.map(withoutKeys), steps, out }),
    );
    return;
  }
  for (const { name, before, after } of changes) {
    terminal.out(`changed  ${name}: ${showValue(name, before)} → ${showValue(name, after)}`);
  }
  for (const step of steps) for (const line of describeStep(step)) terminal.out(line);
  if (out !== null) terminal.out(`files    ${out}`);
}

/** What may be a key is no part of the output. */
function withoutKeys({ name, before, after }: ConfigChange): ConfigChange {
  const show = (value: unknown) => (mayShow(name, value) ? value : NOT_SHOWN);
  return { name, before: show(before), after: show(after) };
}

function describeStep({ step, groups, missing, metrics, differing }: ReplayedStep): string[] {
  const head = `step ${step}   ${formatPlural(groups, "group")} replayed`;
  if (missing.length > 0) {
    const shown = missing.slice(0, SHOWN_PLACES).map((place) => `  ${place}`);
    const more = missing.length - shown.length;
    return [
      `${head}; ${formatPlural(missing.length, "answer")} would be needed that the recording does not hold:`,
      ...shown,
      ...(more > 0 ? [`  and ${more} more`] : []),
    ];
  }
  const reward = metrics?.["reward/mean"] ?? 0;
  const right = metrics?.["reward/correct"] ?? 0;
  const result = `${head}, reward mean ${formatReward(reward)}, ${formatShare(right)} right`;
  if (differing === null) return [result];
  if (differing.length === 0) return [`${result}; its files are byte for byte the recorded ones`];
  return [`${result}; these files differ from the recorded ones: ${differing.join(", ")}`];
}
