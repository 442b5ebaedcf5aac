/**
 * Draws what a handshake measures, through the same path as every sample. In: a way to sample and some prompts.
 * Out: the kind of logprobs, whether seeds count, whether a stop id is returned. Judges nothing else.
 */
import { tokensOf, type Failure, type SampleRequest, type Sequence } from "@interlace/core";
import { measureKind, type Drawn, type Measured } from "./logprob-kind.ts";

export type Draw = (
  request: SampleRequest,
  signal: AbortSignal,
) => Promise<readonly (Sequence | Failure)[]>;

export type Probed = {
  readonly logprobs: Measured;
  readonly seeds: "honoured" | "ignored" | "clones";
  /** null = no probe ended at one. */
  readonly stopReturned: boolean | null;
  /** First failure that any probe saw; null = none. */
  readonly failure: string | null;
};

/** Enough draws to meet the likely ids of a flat distribution under all three settings. */
const DRAWS = 32;
const TURN = 6;

export async function probeServer(
  draw: Draw,
  prompts: readonly Int32Array[],
  signal: AbortSignal,
): Promise<Probed> {
  let failure: string | null = null;
  async function ask(
    prompt: Int32Array,
    change: Partial<SampleRequest>,
  ): Promise<readonly Sequence[]> {
    const request: SampleRequest = {
      id: "handshake",
      affinity: "handshake",
      prompt: tokensOf(prompt),
      samples: DRAWS,
      maxTokens: 1,
      temperature: 1,
      topP: 1,
      topK: null,
      seed: 1,
      stopIds: [],
      ...change,
    };
    const sequences: Sequence[] = [];
    for (const sequence of await draw(request, signal)) {
      if (sequence.ok) sequences.push(sequence);
      else failure ??= `${sequence.cause}: ${sequence.detail}`;
    }
    return sequences;
  }
  const first = prompts[0]!;
  // One small request first: a server that refuses it is not asked hundreds of times.
  const turn = await ask(first, { samples: 2, maxTokens: TURN });
  if (turn.length === 0) {
    const logprobs: Measured = { kind: "unknown", shift: null, rise: null };
    return { logprobs, seeds: "ignored", stopReturned: null, failure };
  }
  // At once: one after the other, their round trips would be most of a start.
  const probed = await Promise.all(
    prompts.map(async (prompt) => {
      const [plain, halfT, halfP] = await Promise.all([
        ask(prompt, {}),
        ask(prompt, { temperature: 0.5, seed: 1001 }),
        ask(prompt, { topP: 0.5, seed: 2001 }),
      ]);
      return { plain: firstTokens(plain), halfT: firstTokens(halfT), halfP: firstTokens(halfP) };
    }),
  );
  const again = await ask(first, { samples: 2, maxTokens: TURN });
  const clones = await ask(first, { samples: 8, maxTokens: TURN, seed: 77 });
  const stopIds = [...new Set(clones.flatMap(({ ids }) => [...ids]))];
  const stopped = await ask(first, { samples: 8, maxTokens: TURN, seed: 77, stopIds });
  return {
    logprobs: measureKind(probed),
    seeds: judgeSeeds(turn, again, clones),
    stopReturned: judgeStops(stopped, stopIds),
    failure,
  };
}

function firstTokens(sequences: readonly Sequence[]): Drawn {
  const drawn = new Map<number, number>();
  for (const { ids, logprobs } of sequences) {
    if (ids[0] !== undefined && logprobs[0] !== undefined) drawn.set(ids[0], logprobs[0]);
  }
  return drawn;
}

/** Honoured: the same seed draws the same, and siblings differ. Clones: a seed makes all siblings one. */
function judgeSeeds(
  turn: readonly Sequence[],
  again: readonly Sequence[],
  siblings: readonly Sequence[],
): Probed["seeds"] {
  const texts = new Set(siblings.map(({ ids }) => ids.join(",")));
  if (siblings.length > 1 && texts.size === 1 && (siblings[0]?.ids.length ?? 0) >= TURN) {
    return "clones";
  }
  const same =
    turn.length === again.length &&
    turn.every(({ ids }, index) => ids.join(",") === again[index]?.ids.join(","));
  return same ? "honoured" : "ignored";
}

function judgeStops(stopped: readonly Sequence[], stopIds: readonly number[]): boolean | null {
  const ended = stopped.filter(({ finish }) => finish === "stop");
  if (ended.length === 0) return null;
  return ended.every(({ ids }) => stopIds.includes(ids.at(-1) ?? -1));
}
