/**
 * What a server's logprobs mean, from what it said of the same ids under three settings. In: first tokens with their
 * logprobs at T = 1, at T = 0.5 and at top_p = 0.5, for several prompts. Out: the kind. Pure.
 *
 * At T = 0.5 a scaled logprob of a likely id moves, as the distribution sharpens; a raw one stays. At top_p = 0.5 a
 * renormalised logprob rises by −log(mass kept); any other stays.
 */
import type { LogprobKind } from "@interlace/core";

/** id → logprob; an id that was drawn twice counts once. */
export type Drawn = ReadonlyMap<number, number>;

export type ProbedPrompt = { readonly plain: Drawn; readonly halfT: Drawn; readonly halfP: Drawn };

export type Measured = {
  readonly kind: LogprobKind;
  /** Largest change of one id's logprob from T = 1 to T = 0.5; null = no id that could show one came twice. */
  readonly shift: number | null;
  /** Rise of one id's logprob under top_p = 0.5; null as above. */
  readonly rise: number | null;
};

/** Servers in half precision disagree with themselves by about 0.02. */
const SAME = 0.04;
const CHANGED = 0.08;
/** An id this likely changes too little to be seen. */
const ALMOST_CERTAIN = -0.15;

export function measureKind(prompts: readonly ProbedPrompt[]): Measured {
  const shifts = prompts.map(({ plain, halfT }) => changes(plain, halfT));
  // Of several ids the one that moves most: a scaled logprob may stay where it was by chance.
  const shift = median(
    shifts.flatMap((all) => (all.length > 0 ? [Math.max(...all.map(Math.abs))] : [])),
  );
  const rise = median(prompts.flatMap(({ plain, halfP }) => changes(plain, halfP)));
  return { kind: kindOf(shift, rise), shift, rise };
}

function kindOf(shift: number | null, rise: number | null): LogprobKind {
  if (shift === null || rise === null) return "unknown";
  const stays = Math.abs(rise) < SAME;
  if (shift < SAME && stays) return "raw";
  if (shift > CHANGED && stays) return "temperature_scaled";
  if (shift > CHANGED && rise > CHANGED) return "processed";
  return "unknown";
}

function changes(from: Drawn, to: Drawn): readonly number[] {
  const usable = [...from].filter(([id, logprob]) => to.has(id) && logprob < ALMOST_CERTAIN);
  return usable.map(([id, logprob]) => to.get(id)! - logprob);
}

function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? null;
}
