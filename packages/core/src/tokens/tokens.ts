/**
 * A trajectory's tokens as segments: what was prompt, what was sampled, what was observed.
 * Append never copies ids: siblings share the prompt's segment, P + C + D holds by construction.
 */
export type SegmentKind = "context" | "sampled" | "observed";

export type Segment = {
  readonly kind: SegmentKind;
  readonly ids: Int32Array;
  /** Same length as `ids` when kind is `sampled`, else null. */
  readonly logprobs: Float32Array | null;
};

export type Tokens = {
  readonly segments: readonly Segment[];
  /** Sum of the segments' lengths. */
  readonly length: number;
  /** FNV-1a over all ids (each as one 32-bit word), unsigned 32-bit; extends with each segment. */
  readonly hash: number;
};

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

export const NO_TOKENS: Tokens = { segments: [], length: 0, hash: FNV_OFFSET };

export function segment(kind: "context" | "observed", ids: Int32Array): Segment {
  return { kind, ids, logprobs: null };
}

export function sampledSegment(ids: Int32Array, logprobs: Float32Array): Segment {
  if (ids.length !== logprobs.length) {
    throw new RangeError(
      `Expected one logprob per id, got ${ids.length} ids and ${logprobs.length} logprobs`,
    );
  }
  return { kind: "sampled", ids, logprobs };
}

/** O(segments + new ids). An empty segment is kept: a turn of zero tokens is still a turn. */
export function append(tokens: Tokens, next: Segment): Tokens {
  let hash = tokens.hash;
  const { ids } = next;
  // By index: an iterator costs ten times as much.
  for (let i = 0; i < ids.length; i++) hash = Math.imul(hash ^ (ids[i] as number), FNV_PRIME);
  return {
    segments: [...tokens.segments, next],
    length: tokens.length + ids.length,
    hash: hash >>> 0,
  };
}

export function tokensOf(ids: Int32Array): Tokens {
  return append(NO_TOKENS, segment("context", ids));
}

/** All ids in one new array, [length]. */
export function concatIds(tokens: Tokens): Int32Array {
  const out = new Int32Array(tokens.length);
  let at = 0;
  for (const { ids } of tokens.segments) {
    out.set(ids, at);
    at += ids.length;
  }
  return out;
}
