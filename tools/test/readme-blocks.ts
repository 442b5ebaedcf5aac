/**
 * The fenced blocks of a Markdown file, and what is to be done with each.
 *
 * In: Markdown. Out: blocks in their order. A block of TypeScript is run. One of Python or shell is run
 * where `<!-- test -->` stands before it. `<!-- not run: reason -->` before a block says why it is
 * not. A `text` block after `<!-- output -->` is what the block before it must print.
 * Refuses to run anything.
 */

export type Language = "ts" | "python" | "sh";

export interface Block {
  readonly language: Language;
  /** Of the opening fence, from 1. */
  readonly line: number;
  readonly code: string;
  readonly fate: Fate;
  /** What it must print; null where the text does not say. */
  readonly output: string | null;
}

export type Fate =
  | { readonly kind: "run" }
  | { readonly kind: "not_run"; readonly reason: string }
  /** Code that a reader would take for tested. */
  | { readonly kind: "unmarked" };

const FENCE = /^(`{3,})(\w*)[ \t]*\n([\s\S]*?)^\1[ \t]*$/gm;
const MARK = /<!--\s*(?:(test)|(output)|not run:\s*((?:(?!-->)[^])*?))\s*-->\s*$/;

export function readBlocks(markdown: string): readonly Block[] {
  const blocks: Block[] = [];
  for (const match of markdown.matchAll(FENCE)) {
    const [, , tag = "", code = ""] = match;
    const [, isTest, isOutput, reason] = MARK.exec(markdown.slice(0, match.index)) ?? [];
    const line = markdown.slice(0, match.index).split("\n").length;
    const language = languageOf(tag);
    if (isOutput !== undefined) {
      const source = blocks.pop();
      if (source === undefined) throw new Error(`Line ${line}: output of no block`);
      blocks.push({ ...source, output: code });
    } else if (language !== null) {
      blocks.push({ language, line, code, fate: fateOf(language, isTest, reason), output: null });
    }
  }
  return blocks;
}

function languageOf(tag: string): Language | null {
  switch (tag) {
    case "ts":
    case "typescript":
      return "ts";
    case "python":
    case "py":
      return "python";
    case "sh":
    case "bash":
    case "shell":
      return "sh";
    default:
      return null;
  }
}

function fateOf(language: Language, isTest: string | undefined, reason: string | undefined): Fate {
  if (reason !== undefined) return { kind: "not_run", reason: reason.replaceAll(/\s+/g, " ") };
  return language === "ts" || isTest !== undefined ? { kind: "run" } : { kind: "unmarked" };
}
