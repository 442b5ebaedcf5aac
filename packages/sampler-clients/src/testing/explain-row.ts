/** What servers tell of a token beside its logprob: its rank, and the likeliest ids. From raw logits. */
import type { LogprobKind } from "@interlace/core";
import { keep, type Sampling } from "../embedded/draw.ts";

export type ServerLogprobs = Exclude<LogprobKind, "unknown">;

export type Candidate = { readonly id: number; readonly logprob: number; readonly rank: number };

export type Explained = { readonly rank: number; readonly candidates: readonly Candidate[] };

/** `rank` 1 = most likely; `candidates` most likely ids, masked ones with −Infinity. */
export function explainRow(
  row: Float32Array,
  id: number,
  candidates: number,
  sampling: Sampling,
  kind: ServerLogprobs,
): Explained {
  let rank = 1;
  for (let i = 0; i < row.length; i++) if (row[i]! > row[id]!) rank++;
  if (candidates === 0) return { rank, candidates: [] };
  const logprobs = rowLogprobs(row, sampling, kind);
  const order = Array.from(row.keys()).sort((a, b) => row[b]! - row[a]! || a - b);
  return {
    rank,
    candidates: order.slice(0, candidates).map((candidate, place) => {
      return { id: candidate, logprob: Math.fround(logprobs[candidate]!), rank: place + 1 };
    }),
  };
}

function rowLogprobs(row: Float32Array, sampling: Sampling, kind: ServerLogprobs): Float64Array {
  const temperature = kind === "raw" || sampling.temperature === 0 ? 1 : sampling.temperature;
  const most = row.reduce((a, b) => Math.max(a, b), -Infinity);
  const weights = Float64Array.from(row, (logit) => Math.exp((logit - most) / temperature));
  const total = weights.reduce((a, b) => a + b, 0);
  const isCut = kind === "processed" && sampling.temperature !== 0;
  const kept = isCut ? keep(weights, total, sampling) : total;
  return weights.map((weight) => Math.log(weight / kept));
}
