/**
 * In: a trajectory's final text. Out: what stands in its last `\boxed{…}`, as written.
 * Refuses to know: what the answer means, and whether it is right.
 */
import { lastBoxed } from "../data/last-boxed.ts";

/** How much of the end of a final text is looked at, in code points. */
export const ANSWER_WINDOW = 300;

/**
 * `lastBoxed` of the last 300 code points; null = invalid format. Linear in the window, whatever the
 * text's length: what lies before it is never read.
 */
export function extractBoxed(finalText: string): string | null {
  return lastBoxed(finalText.slice(windowStart(finalText, ANSWER_WINDOW)));
}

/** Index of the first code unit of the last `count` code points; a lone surrogate is one of them. */
function windowStart(text: string, count: number): number {
  let at = text.length;
  for (let seen = 0; seen < count && at > 0; seen++) {
    at--;
    if (at > 0 && isLow(text.charCodeAt(at)) && isHigh(text.charCodeAt(at - 1))) at--;
  }
  return at;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
