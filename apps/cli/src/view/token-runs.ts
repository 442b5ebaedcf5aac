/**
 * A trajectory's tokens in order, with what the learner got of each. In: a row and its datum. Out: runs of one kind, as
 * views of the files. Judges nothing: a mask that lies where it must not is shown where it lies.
 */
import type { DatumRow, TrajectoryRow } from "@interlace/train-bridge";

export type TokenRun = {
  /** `context`, `sampled`, `observed`; a damaged file may say anything. */
  readonly kind: string;
  /** Position of the first id in the trajectory. */
  readonly start: number;
  readonly ids: Int32Array;
  /** Of a sampled run; a damaged file may have fewer than ids. */
  readonly logprobs: Float32Array | null;
};

/** Of one position; null = the trajectory has no datum. */
export type Learned = { readonly mask: number; readonly advantage: number } | null;

export function tokenRuns({ spans, tokens, logprobs }: TrajectoryRow): readonly TokenRun[] {
  let sampled = 0;
  return spans.map(({ kind, start, length }) => {
    const ids = tokens.subarray(Math.max(0, start), Math.max(0, start + length));
    if (kind !== "sampled") return { kind, start, ids, logprobs: null };
    const own = logprobs.subarray(sampled, sampled + length);
    sampled += length;
    return { kind, start, ids, logprobs: own };
  });
}

/** Targets are shifted by one: what position `p` was trained with stands at `p − 1`. */
export function learnedAt(datum: DatumRow["datum"] | null, position: number): Learned {
  if (datum === null) return null;
  const mask = datum.lossMask[position - 1] ?? 0;
  return { mask, advantage: datum.advantages[position - 1] ?? 0 };
}
