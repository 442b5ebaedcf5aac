/**
 * The JSON text of a prompt's ids. A segment's text is made once and kept as long as the segment lives, so a
 * later turn pays for its new tokens only.
 */
import type { Segment, Tokens } from "@interlace/core";

const texts = new WeakMap<Segment, string>();

/** `1,300,301`: to stand between brackets. */
export function promptJson(prompt: Tokens): string {
  let all = "";
  for (const segment of prompt.segments) {
    if (segment.ids.length === 0) continue;
    let text = texts.get(segment);
    if (text === undefined) {
      text = segment.ids.join(",");
      texts.set(segment, text);
    }
    all = all === "" ? text : `${all},${text}`;
  }
  return all;
}
