/**
 * In: a trajectory's final text. Out: what stands in its last `\boxed{…}`, as written.
 * Refuses to know: what the answer means, and whether it is right.
 */
const MARKER = "\\boxed{";

/** How much of the end of a final text is looked at, in code points. */
export const ANSWER_WINDOW = 300;

/**
 * The text between the last `\boxed{` of the last 300 code points and its balancing brace, untrimmed.
 * null = there is no marker, or the last one never closes: an earlier balanced one does not count.
 * A `\{` counts as a brace. Linear in the window, whatever the text's length.
 */
export function extractBoxed(finalText: string): string | null {
  return lastBoxed(finalText.slice(windowStart(finalText, ANSWER_WINDOW)));
}

/** The same rule over the whole text, without a window. */
export function lastBoxed(text: string): string | null {
  const marker = text.lastIndexOf(MARKER);
  if (marker === -1) return null;
  const start = marker + MARKER.length;
  let depth = 1;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (char === "{") depth++;
    else if (char === "}" && --depth === 0) return text.slice(start, at);
  }
  return null;
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
