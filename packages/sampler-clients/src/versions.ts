/**
 * Which weights sampled which tokens. In: the spans of an answer, or the versions known before and after it.
 * Out: spans that cover `[0, n)`, none of them empty, or what is wrong with them.
 */
import { weightVersion, type VersionSpan, type WeightVersion } from "@interlace/core";
import type { RawSpan } from "./raw-sample.ts";

/** Spans as the server tells them; a text = why they are none. */
export function readSpans(
  raw: readonly RawSpan[],
  length: number,
): readonly VersionSpan[] | string {
  const spans: VersionSpan[] = [];
  let at = 0;
  for (const { version, start, end } of raw) {
    if (typeof version !== "string" || start !== at || typeof end !== "number" || end < at) {
      return `Expected version spans that cover ${length} tokens without a gap, got ${JSON.stringify(raw)}`;
    }
    if (end > at) spans.push({ version: weightVersion(version), start: at, end });
    at = end;
  }
  if (at !== length) return `Expected version spans up to ${length}, got ${JSON.stringify(raw)}`;
  return spans;
}

/**
 * A server that names no spans: the version before the request and after it. Where they differ the border is not
 * known: all tokens but the last count as the older one, so that nothing looks fresher than it is.
 */
export function spanOf(
  before: WeightVersion | null,
  after: WeightVersion | null,
  length: number,
): readonly VersionSpan[] {
  if (length === 0 || (before === null && after === null)) return [];
  if (before === after || length === 1) return [{ version: before, start: 0, end: length }];
  return [
    { version: before, start: 0, end: length - 1 },
    { version: after, start: length - 1, end: length },
  ];
}

/** The spans of the first `length` tokens. */
export function cutSpans(spans: readonly VersionSpan[], length: number): readonly VersionSpan[] {
  return spans
    .filter(({ start }) => start < length)
    .map((span) => ({ ...span, end: Math.min(span.end, length) }));
}
