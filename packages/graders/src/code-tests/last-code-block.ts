/** In: a final text. Out: the code of its last fenced block that is Python or names no language; null = none. Linear. */
const LANGUAGES: ReadonlySet<string> = new Set(["", "py", "python", "python3"]);

export function lastCodeBlock(text: string): string | null {
  let found: string | null = null;
  let open: { readonly isOurs: boolean; readonly lines: string[] } | null = null;
  for (const line of text.split("\n")) {
    const [, tag] = /^\s{0,3}```\s*(\S*)\s*$/.exec(line) ?? [];
    if (tag === undefined) open?.lines.push(line);
    else if (open === null) open = { isOurs: LANGUAGES.has(tag.toLowerCase()), lines: [] };
    else {
      if (open.isOurs) found = open.lines.join("\n");
      open = null;
    }
  }
  return found;
}
