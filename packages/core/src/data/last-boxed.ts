/** The one marker of an answer, in data sets as in a model's text. `\boxed {` is none. */
const MARKER = "\\boxed{";

/**
 * The text between the last `\boxed{` and its balancing brace, untrimmed.
 * null = there is no marker, or the last one never closes: an earlier balanced one does not count.
 * A `\{` counts as a brace. Linear, never throws.
 */
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
