/** In: a comparison. Out: a Markdown table, the same text for a person and for a paper. */
import type { PairedTest } from "@interlace/core";
import type { Comparison, Figure } from "./compare-results.ts";

export function compareTable({ dataset, valN, problems, results }: Comparison): string {
  const head = [
    dataset,
    `average@${valN}`,
    `pass@${valN}`,
    `majority@${valN}`,
    "format",
    "unscored",
    "average: Δ, p",
    "pass: Δ, p",
  ];
  const rows = results.map(({ label, average, pass, majority, format, unscored, tests }) => [
    label.replaceAll("|", String.raw`\|`),
    share(average),
    share(pass),
    majority === null ? "–" : share(majority),
    share(format),
    String(unscored),
    tests === null ? "–" : difference(tests.average),
    tests === null ? "–" : difference(tests.pass),
  ]);
  const lines = [head, head.map((_, i) => (i === 0 ? "---" : "---:")), ...rows];
  const notes = [
    `${problems} problems × ${valN}; ± is the standard error over problems. Δ and p against the first row, paired by problem: ` +
      "sign flips for the average, exact McNemar for pass.",
    ...(results.some(({ tests }) => tests?.average.method === "sampled")
      ? ["p of the average is from 100,000 seeded draws."]
      : []),
  ];
  return `${lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n")}\n\n${notes.join("\n")}\n`;
}

function share({ value, standardError }: Figure): string {
  return standardError === null ? percent(value) : `${percent(value)} ± ${percent(standardError)}`;
}

function difference({ difference: value, pValue }: PairedTest): string {
  const p = pValue < 0.001 ? "p < 0.001" : `p = ${pValue.toFixed(3)}`;
  return `${value < 0 ? "−" : "+"}${percent(Math.abs(value))}, ${p}`;
}

function percent(value: number): string {
  return `${(value * 100).toFixed(1)}%`;
}
