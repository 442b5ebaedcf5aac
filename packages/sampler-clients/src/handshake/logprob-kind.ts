/**
 * What a server's logprobs mean, from what it said of the same ids under three settings. In: first tokens with
 * their logprobs at T = 1, at T = 0.5 and at top_p = 0.5, for several prompts. Out: the kind. Pure.
 *
 * With l = log p at T = 1: scaled logprobs at T = 0.5 are 2l − c with c of the context only, so differences between
 * two ids double; raw ones stay. After top_p all kept ids rise by the same −log(mass kept).
 */
import type { LogprobKind } from "@interlace/core";

/** id → logprob; an id that was drawn twice counts once. */
export type Drawn = ReadonlyMap<number, number>;

export type ProbedPrompt = { readonly plain: Drawn; readonly halfT: Drawn; readonly halfP: Drawn };

export type Measured = {
  readonly kind: LogprobKind;
  /** Ratio of differences at T = 0.5 (1 raw, 2 scaled), null = no two ids in common that differ enough. */
  readonly ratio: number | null;
  /** Rise of the same id under top_p = 0.5, null = no id in common that is not almost certain. */
  readonly rise: number | null;
};

/** Servers in half precision disagree with themselves by about 0.02; below this a difference says nothing. */
const CLEAR_GAP = 0.4;
const CLEAR_RISE = 0.1;
/** An id this likely rises too little to be seen. */
const ALMOST_CERTAIN = -0.2;

export function measureKind(prompts: readonly ProbedPrompt[]): Measured {
  const ratio = median(prompts.flatMap(ratioOf));
  const rise = median(prompts.flatMap(riseOf));
  return { kind: kindOf(ratio, rise), ratio, rise };
}

function kindOf(ratio: number | null, rise: number | null): LogprobKind {
  if (ratio === null || rise === null) return "unknown";
  const scaled = Math.abs(ratio - 2) < 0.3;
  const raw = Math.abs(ratio - 1) < 0.3;
  const risen = rise > CLEAR_RISE;
  const still = Math.abs(rise) < CLEAR_RISE / 2;
  if (raw && still) return "raw";
  if (scaled && still) return "temperature_scaled";
  if (scaled && risen) return "processed";
  return "unknown";
}

/** From the two common ids whose logprobs at T = 1 lie furthest apart. */
function ratioOf({ plain, halfT }: ProbedPrompt): readonly number[] {
  const common = [...plain].filter(([id]) => halfT.has(id)).sort((a, b) => a[1] - b[1]);
  const [low, high] = [common[0], common.at(-1)];
  if (low === undefined || high === undefined || high[1] - low[1] < CLEAR_GAP) return [];
  return [(halfT.get(high[0])! - halfT.get(low[0])!) / (high[1] - low[1])];
}

function riseOf({ plain, halfP }: ProbedPrompt): readonly number[] {
  const usable = [...plain].filter(([id, logprob]) => halfP.has(id) && logprob < ALMOST_CERTAIN);
  return usable.map(([id, logprob]) => halfP.get(id)! - logprob);
}

function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? null;
}
