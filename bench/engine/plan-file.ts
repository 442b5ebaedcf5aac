/**
 * What drivers without a tokenizer need, as one JSON file: bodies with gaps, prompts and observations as the text of
 * their ids. Bodies are the adapters' own, so that all drivers send the same requests.
 */
import { tokensOf, type SampleRequest } from "../../packages/core/src/index.ts";
import { generateBody as sglangBody } from "../../packages/sampler-clients/src/adapters/sglang-wire.ts";
import {
  completionsBody,
  generateBody,
} from "../../packages/sampler-clients/src/adapters/vllm-wire.ts";
import { printed, type BenchLanguage } from "./language.ts";
import {
  groupsOf,
  GROUP_SIZE,
  rolloutConfig,
  seedOf,
  SHAPES,
  TURNS,
  warmUpsOf,
  type Cell,
} from "./workload.ts";

/** Odd places are gaps: `id`, `prompt`, or `seed+3`. */
export type Template = readonly string[];

export type PlanFile = {
  readonly cell: Cell;
  readonly path: string;
  /** By step, then question: JSON text of the first prompt's ids. */
  readonly prompts: readonly string[];
  /** By tool step: JSON text of what is joined after a completion, with a leading comma. */
  readonly deltas: readonly string[];
  /** By step: seed of question 0's first request; a place's seed is `start + (question·turns + turn)·size + member`. */
  readonly seeds: readonly number[];
  readonly groups: readonly number[];
  /** Times that step 0 is run before anything is measured. */
  readonly warmUps: number;
  readonly groupSize: number;
  readonly turns: number;
  readonly turnsOfSeed: number;
  readonly first: Template;
  readonly later: Template;
};

export const PATHS = {
  vllm: "/inference/v1/generate",
  vllm_completions: "/v1/completions",
  sglang: "/generate",
} as const;

export function makePlanFile(language: BenchLanguage, cell: Cell): PlanFile {
  const { protocol } = language;
  const steps = Array.from({ length: cell.batches + 1 }, (_, step) => step);
  const questions = Math.max(...steps.map((step) => groupsOf(cell, step)));
  return {
    cell,
    path: PATHS[cell.wire],
    prompts: Array.from({ length: questions }, (_, question) =>
      protocol.firstPrompt(language.problem(cell.shape, question).question).join(","),
    ),
    deltas: deltasOf(language, cell).map((delta) => `,${delta.join(",")}`),
    seeds: steps.map((step) => seedOf(cell.shape, { step, question: 0, group: null, turn: 0 })),
    groups: steps.map((step) => groupsOf(cell, step)),
    warmUps: warmUpsOf(cell),
    groupSize: GROUP_SIZE,
    turns: TURNS,
    turnsOfSeed: rolloutConfig(cell.shape).maxAssistantTurns,
    first: template(language, cell, GROUP_SIZE),
    later: template(language, cell, 1),
  };
}

/** The problems as a file of a user's: batches begin at its first line again, so that all meet the same ones. */
export function makeProblemFile(language: BenchLanguage, cell: Cell): string {
  return Array.from({ length: groupsOf(cell, 1) }, (_, question) => {
    const { dataSource, ...problem } = language.problem(cell.shape, question);
    return `${JSON.stringify({ ...problem, data_source: dataSource })}\n`;
  }).join("");
}

/** What is joined after each tool call; the same for every trajectory. */
export function deltasOf(language: BenchLanguage, cell: Cell): readonly Int32Array[] {
  return Array.from({ length: TURNS - 1 }, (_, turn) =>
    language.protocol.joinObservation(
      language.turn(cell.shape, turn, 0),
      printed(cell.observation),
      turn,
    ),
  );
}

/** Tokens of the prompt at each turn. */
export function promptLengths(language: BenchLanguage, cell: Cell): readonly number[] {
  const { first, sampled } = SHAPES[cell.shape];
  let length: number = first;
  return [
    length,
    ...deltasOf(language, cell).map((delta) => {
      length += sampled + delta.length;
      return length;
    }),
  ];
}

const GAP_ID = 987_654_321;
const GAP_SEED = 1_111_110_000;

function template(language: BenchLanguage, cell: Cell, samples: number): Template {
  const request: SampleRequest = {
    id: "r",
    affinity: "a",
    prompt: tokensOf(Int32Array.of(GAP_ID)),
    samples,
    maxTokens: rolloutConfig(cell.shape).maxAssistantTokens,
    temperature: 1,
    topP: 1,
    topK: null,
    seed: GAP_SEED,
    stopIds: language.protocol.stopIds,
  };
  const body = {
    vllm: () => generateBody(request, "WIREID", "bench"),
    vllm_completions: () => completionsBody(request, "WIREID", "bench"),
    sglang: () => sglangBody(request, "WIREID", true, null),
  }[cell.wire]();
  return body.split(/(WIREID|987654321|11111100\d\d)/).map((part) => {
    if (part === "WIREID") return "id";
    if (part === String(GAP_ID)) return "prompt";
    return /^11111100\d\d$/.test(part) ? `seed+${Number(part) - GAP_SEED}` : part;
  });
}
