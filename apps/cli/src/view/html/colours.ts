/**
 * Which colour a token gets. In: its number. Out: a class of page.css, and the legend of all of them. Scales are told
 * apart by lightness too, and what is below zero by a line: without colour vision and on paper.
 */
import type { Learned } from "../token-runs.ts";
import { markup, type Html } from "./markup.ts";

export const COLOURS = ["mask", "logprob", "advantage"] as const;
export type Colour = (typeof COLOURS)[number];

type Band = { readonly name: string; readonly label: string };

const MASK_BANDS: readonly Band[] = [
  { name: "trained", label: "sampled, trained on (mask 1)" },
  { name: "untrained", label: "sampled, not trained on" },
  { name: "read", label: "read, not sampled (mask 0)" },
];

/** From the likely to the unlikely. */
const LOGPROB_BANDS: readonly (Band & { readonly above: number })[] = [
  { name: "p0", label: "p ≥ 0.9", above: 0.9 },
  { name: "p1", label: "≥ 0.5", above: 0.5 },
  { name: "p2", label: "≥ 0.2", above: 0.2 },
  { name: "p3", label: "≥ 0.05", above: 0.05 },
  { name: "p4", label: "≥ 0.01", above: 0.01 },
  { name: "p5", label: "less", above: -1 },
];

const ADVANTAGE_STEPS = [0.25, 0.5, 1] as const;
const ADVANTAGE_BANDS: readonly Band[] = [
  { name: "n4", label: "below −1" },
  { name: "n3", label: "to −1" },
  { name: "n2", label: "to −0.5" },
  { name: "n1", label: "to −0.25" },
  { name: "z", label: "0" },
  { name: "a1", label: "to 0.25" },
  { name: "a2", label: "to 0.5" },
  { name: "a3", label: "to 1" },
  { name: "a4", label: "above 1" },
];

export const LEGENDS: Readonly<Record<Colour, readonly Band[]>> = {
  mask: MASK_BANDS,
  logprob: LOGPROB_BANDS,
  advantage: ADVANTAGE_BANDS,
};

/** Mask and advantage, which many tokens in a row have in common. */
export function classesOfRun(kind: string, learned: Learned): string {
  const mask = learned?.mask === 1 ? "trained" : kind === "sampled" ? "untrained" : "read";
  return learned?.mask === 1 ? `${mask} ${advantageClass(learned.advantage)}` : mask;
}

/** "" = no logprob. What is no number has a class of its own. */
export function logprobClass(logprob: number | undefined): string {
  if (logprob === undefined) return "";
  const p = Math.exp(logprob);
  return LOGPROB_BANDS.find(({ above }) => p >= above)?.name ?? "broken";
}

function advantageClass(advantage: number): string {
  if (advantage === 0) return "z";
  const step = ADVANTAGE_STEPS.findIndex((most) => Math.abs(advantage) <= most);
  return `${advantage > 0 ? "a" : "n"}${step === -1 ? ADVANTAGE_STEPS.length + 1 : step + 1}`;
}

export function legend(colour: Colour, note: string): Html {
  const bands = LEGENDS[colour].map(
    ({ name, label }) => markup`<span class="${name}"><b class="${name}">${label}</b></span> `,
  );
  return markup`<span class="legend of-${colour}">${bands}<span class="note">${note}</span></span>`;
}
