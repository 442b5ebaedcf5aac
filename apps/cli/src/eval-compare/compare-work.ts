/** The work of `interlace eval compare`. In: results. Out: a table, and a plot as SVG and PNG. */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { writeAtomic } from "@interlace/train-bridge";
import type { EvalCompareFlags } from "../commands/eval-compare.ts";
import { messageOf, workFailed, wrongUse } from "../person-error.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { checkSettings } from "./check-settings.ts";
import { comparePlot } from "./compare-plot.ts";
import { compareResults, type Comparison } from "./compare-results.ts";
import { compareTable } from "./compare-table.ts";
import { readResults } from "./read-results.ts";
import { renderPng } from "../plot/render-png.ts";

export async function compareWork(
  terminal: Terminal,
  flags: EvalCompareFlags,
  paths: readonly string[],
): Promise<0> {
  const [double] = paths.filter((path, i) => paths.indexOf(path) !== i);
  if (double !== undefined) throw wrongUse(`${double} is named twice: name each result once`);
  const results = paths.map(readResults);
  checkSettings(results);
  const comparison = compareResults(results);
  const files = await writeComparison(flags.out, comparison);
  if (flags.json === true) {
    terminal.out(JSON.stringify({ ...toJson(comparison), files }));
    return 0;
  }
  terminal.out(compareTable(comparison).trimEnd());
  terminal.out("");
  terminal.out(`files    ${files.join(", ")}`);
  return 0;
}

/** `out` without an ending: `.md`, `.svg` and `.png` are added. */
async function writeComparison(out: string, comparison: Comparison): Promise<readonly string[]> {
  const svg = comparePlot(comparison);
  const encoder = new TextEncoder();
  const contents: readonly (readonly [ending: string, bytes: Uint8Array])[] = [
    [".md", encoder.encode(compareTable(comparison))],
    [".svg", encoder.encode(svg)],
    [".png", await renderPng(svg)],
  ];
  try {
    mkdirSync(dirname(out), { recursive: true });
    for (const [ending, bytes] of contents) await writeAtomic(`${out}${ending}`, [[bytes]]);
  } catch (error) {
    throw workFailed(`Cannot write ${out}: ${messageOf(error)}`, error);
  }
  return contents.map(([ending]) => `${out}${ending}`);
}

function toJson({ dataset, valN, problems, results }: Comparison): Record<string, unknown> {
  return {
    dataset,
    val_n: valN,
    problems,
    results: results.map(({ label, path, average, pass, majority, format, unscored, tests }) => ({
      label,
      path,
      average_at_n: average.value,
      pass_at_n: pass.value,
      majority_at_n: majority?.value ?? null,
      format_rate: format.value,
      unscored_generations: unscored,
      tests:
        tests === null
          ? null
          : {
              average: {
                difference: tests.average.difference,
                p: tests.average.pValue,
                method: tests.average.method,
              },
              pass: { difference: tests.pass.difference, p: tests.pass.pValue },
            },
    })),
  };
}
