/**
 * What every driver asks and how long an answer takes: pure functions of a cell, so that server, drivers and report
 * agree without talking. In: a cell, a place in the batch. Out: seeds, delays, the critical path. Knows no HTTP.
 */
import { requestSeed, rolloutConfigSchema, stepSeed } from "../../packages/core/src/index.ts";
import type { RolloutConfig } from "../../packages/core/src/index.ts";

export const WIRES = ["vllm", "vllm_completions", "sglang"] as const;
export type Wire = (typeof WIRES)[number];

/** Tokens of the first prompt and of every sampled turn; the last prompt is what the name says. `most`: of a trajectory. */
export const SHAPES = {
  "2k": { first: 500, sampled: 400, most: 16_384 },
  "8k": { first: 500, sampled: 1900, most: 16_384 },
  "32k": { first: 500, sampled: 7900, most: 40_960 },
} as const;
export type ShapeName = keyof typeof SHAPES;

/** Log-normal: median and sigma of the natural logarithm. */
export type Latency = { readonly medianMs: number; readonly sigma: number };

export type Cell = {
  readonly wire: Wire;
  readonly shape: ShapeName;
  /** Tokens of what the tool prints. */
  readonly observation: 1 | 100;
  /** Trajectories live at once: all of a batch. */
  readonly live: number;
  /** null = the server answers at once. */
  readonly latency: Latency | null;
  /** Measured batches. */
  readonly batches: number;
  readonly schedule: "continuous" | "rounds";
};

export const GROUP_SIZE = 8;
/** Four tool calls and an answer. */
export const TURNS = 5;
/** Trajectories that warm up, at step 0; measured batches are steps 1, 2, …. */
export const WARM_UP = 512;
/** A run's batches have one size, so that the one which warms up is a run of its own: other seeds. */
export const WARM_UP_SEED = 41;

export function rolloutConfig(shape: ShapeName): RolloutConfig {
  const { sampled, most } = SHAPES[shape];
  return rolloutConfigSchema.parse({
    groupSize: GROUP_SIZE,
    maxCodeCalls: TURNS - 1,
    maxAssistantTurns: TURNS + 1,
    maxAssistantTokens: sampled + 16,
    maxTrajectoryTokens: most,
  });
}

/** Batches that warm up: a cell of few trajectories must not be measured with colder code than one of many. */
export function warmUpsOf({ live }: Cell): number {
  return Math.ceil(WARM_UP / live);
}

/** Groups of a step. */
export function groupsOf(cell: Cell, step: number): number {
  return (step === 0 ? Math.min(WARM_UP, cell.live) : cell.live) / GROUP_SIZE;
}

/** Assistant turns of a step: members share the first request, but each samples its own turn. */
export function turnsOf(cell: Cell, step: number): number {
  return groupsOf(cell, step) * GROUP_SIZE * TURNS;
}

export type Place = {
  readonly step: number;
  readonly question: number;
  /** null = the shared first request. */
  readonly group: number | null;
  readonly turn: number;
};

/** The seed names the place, for the server too. */
export function seedOf(shape: ShapeName, { step, ...place }: Place): number {
  const own = stepOfRun(rolloutConfig(shape), step);
  return requestSeed(own.config, { ...place, step: own.step });
}

/** The run that a step belongs to, and its number there: runs count from 0. */
function stepOfRun(
  config: RolloutConfig,
  step: number,
): { readonly config: RolloutConfig; readonly step: number } {
  return step === 0
    ? { config: { ...config, seed: WARM_UP_SEED }, step: 0 }
    : { config, step: step - 1 };
}

/** null = a seed of no batch: a handshake. */
export function createPlaceFinder(cell: Cell): (seed: number) => Place | null {
  const config = rolloutConfig(cell.shape);
  const { maxAssistantTurns } = config;
  const starts = Array.from({ length: cell.batches + 1 }, (_, step) => {
    const own = stepOfRun(config, step);
    return stepSeed(own.config.seed, own.step);
  });
  return (seed) => {
    for (const [step, start] of starts.entries()) {
      const offset = (seed - start + 2 ** 31) % 2 ** 31;
      const question = Math.floor(offset / (GROUP_SIZE * maxAssistantTurns));
      if (question >= groupsOf(cell, step)) continue;
      const turn = Math.floor(offset / GROUP_SIZE) % maxAssistantTurns;
      return { step, question, turn, group: turn === 0 ? null : offset % GROUP_SIZE };
    }
    return null;
  };
}

/** The same for the same place, whoever asks. */
export function delayMs(latency: Latency | null, place: Place): number {
  if (latency === null) return 0;
  const member = place.group === null ? 0 : place.group + 1;
  const at = ((place.step * 65_536 + place.question) * (GROUP_SIZE + 1) + member) * TURNS;
  const [u, v] = [uniform(2 * (at + place.turn)), uniform(2 * (at + place.turn) + 1)];
  const normal = Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * v);
  return latency.medianMs * Math.exp(latency.sigma * normal);
}

/** In (0, 1): a 32-bit finaliser (Wang, Mueller), enough for a latency. */
function uniform(index: number): number {
  let x = Math.imul(index ^ 0x9e3779b9, 0x45d9f3b);
  x = Math.imul(x ^ (x >>> 16), 0x45d9f3b);
  x ^= x >>> 16;
  return ((x >>> 0) + 0.5) / 2 ** 32;
}

/** Milliseconds that a batch takes when nothing but the server costs time: the slowest trajectory. */
export function criticalPathMs(cell: Cell, step: number): number {
  let longest = 0;
  for (let question = 0; question < groupsOf(cell, step); question++) {
    const first = delayMs(cell.latency, { step, question, group: null, turn: 0 });
    for (let group = 0; group < GROUP_SIZE; group++) {
      let sum = first;
      for (let turn = 1; turn < TURNS; turn++) {
        sum += delayMs(cell.latency, { step, question, group, turn });
      }
      longest = Math.max(longest, sum);
    }
  }
  return longest;
}
