/**
 * Finds where a template puts one text, and how it transforms it, by rendering probes.
 * In: a function from content to rendered text. Out: the text before and after, and the transform;
 * or, as a sentence, what is wrong. Never looks at real content.
 */
import { strip } from "../tokens/python-whitespace.ts";

/** How templates write a content: as it is, trimmed as Python's `str.strip`, or as a JSON string. */
export type ContentTransform = "as_is" | "trimmed" | "json";

export type Placement = {
  readonly before: string;
  readonly after: string;
  readonly transform: ContentTransform;
};

export type PlacementProblem = { readonly expected: string; readonly seen: string };

export function transformContent(transform: ContentTransform, content: string): string {
  switch (transform) {
    case "as_is":
      return content;
    case "trimmed":
      return strip(content);
    case "json":
      break;
  }
  // The same text as Python's json.dumps(content, ensure_ascii=False).
  return JSON.stringify(content);
}

const TRANSFORMS: readonly ContentTransform[] = ["as_is", "trimmed", "json"];

/**
 * `word` must occur nowhere else in the rendered text. `padded`: probe with blanks around, so that
 * trimming shows; without, for content that is only a part of a message.
 */
export function placeContent(
  render: (content: string) => string,
  word: string,
  padded: boolean,
): Placement | PlacementProblem {
  const core = `"${word}'é\\<&>\n"`;
  const probe = padded ? ` \n ${core}\n  ` : core;
  const rendered = render(probe);
  const count = rendered.split(word).length - 1;
  if (count !== 1) {
    return {
      expected: "the content once",
      seen: count === 0 ? `none of it in ${excerpt(rendered)}` : `it ${count} times`,
    };
  }
  for (const transform of TRANSFORMS) {
    const shown = transformContent(transform, probe);
    const at = rendered.indexOf(shown);
    if (at < 0) continue;
    const placement = {
      before: rendered.slice(0, at),
      after: rendered.slice(at + shown.length),
      transform,
    };
    // A second content tells apart a partial transform, or a frame that depends on the content.
    const plain = render(word);
    const framed = placement.before + transformContent(transform, word) + placement.after;
    if (plain === framed) return placement;
    return {
      expected: "the same text around every content",
      seen: firstDifference(framed, plain),
    };
  }
  return {
    expected: "the content as it is, trimmed or as a JSON string",
    seen: excerpt(rendered.slice(Math.max(0, rendered.indexOf(word) - 12))),
  };
}

/** `"…" and "…" (from character 7)`: where two texts part. */
export function firstDifference(left: string, right: string): string {
  let at = 0;
  while (at < left.length && left[at] === right[at]) at++;
  const show = (text: string): string => excerpt(text.slice(at));
  return `${show(left)} and ${show(right)} from character ${at + 1} on`;
}

export function excerpt(text: string): string {
  return JSON.stringify(text.length > 48 ? `${text.slice(0, 48)}…` : text);
}
