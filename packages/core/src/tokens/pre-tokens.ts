/**
 * Two kinds of pre-tokenisers where more is known than the library's interface tells: byte-level
 * ones, whose pre-tokens are pieces of the text itself, and Metaspace, whose marks begin words.
 * In: the `pre_tokenizer` of a tokenizer.json.
 */
import { SplitPreTokenizer } from "@huggingface/tokenizers";
import type { JsonObject } from "./tokenizer-json.ts";

const GPT2_WORDS =
  "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

/**
 * The pre-tokeniser up to its last step, when that step is the byte-level one and each pre-token is
 * then encoded on its own: this is what makes remembering exact. null = another kind of tokenizer.
 */
export function byteLevelSplit(config: unknown): ((text: string) => readonly string[]) | null {
  const steps = flattenSteps(config);
  const last = steps.pop();
  const isByteLevel = last?.["type"] === "ByteLevel" && last["add_prefix_space"] !== true;
  if (!isByteLevel) return null;
  if (last["use_regex"] !== false) {
    steps.push({ type: "Split", pattern: { Regex: GPT2_WORDS }, behavior: "Isolated" });
  }
  if (!steps.every((step) => step["type"] === "Split" && step["behavior"] === "Isolated"))
    return null;
  const splitters = steps.map(createSplitter);
  const [only] = splitters;
  if (only !== undefined && splitters.length === 1) return only;
  return (text) => {
    let parts: readonly string[] = text === "" ? [] : [text];
    for (const splitter of splitters) parts = parts.flatMap(splitter);
    return parts;
  };
}

/** The library leaves Metaspace in one piece; `split` (the default) makes each mark begin a word. */
export function metaspaceSplit(config: unknown): ((preToken: string) => readonly string[]) | null {
  const step = flattenSteps(config).pop();
  if (step?.["type"] !== "Metaspace" || step["split"] === false) return null;
  const mark = typeof step["replacement"] === "string" ? step["replacement"] : "▁";
  return (preToken) => {
    const words: string[] = [];
    let start = 0;
    for (let at = preToken.indexOf(mark, 1); at > 0; at = preToken.indexOf(mark, at + 1)) {
      words.push(preToken.slice(start, at));
      start = at;
    }
    words.push(preToken.slice(start));
    return words;
  };
}

function flattenSteps(config: unknown): JsonObject[] {
  if (typeof config !== "object" || config === null) return [];
  const step = config as JsonObject;
  if (step["type"] !== "Sequence") return [step];
  const inner = step["pretokenizers"];
  return Array.isArray(inner) ? inner.flatMap(flattenSteps) : [];
}

function createSplitter(step: JsonObject): (text: string) => readonly string[] {
  const splitter = new SplitPreTokenizer({
    type: "Split",
    pattern: step["pattern"] as { Regex?: string; String?: string },
    behavior: "Isolated",
    invert: step["invert"] === true,
  });
  const { pattern } = splitter;
  return (text) => {
    // Most patterns match every character; then the matches alone are the parts.
    const matches = pattern === null ? null : text.match(pattern);
    if (matches !== null) {
      let covered = 0;
      for (const match of matches) covered += match.length;
      if (covered === text.length) return matches;
    }
    return splitter.pre_tokenize_text(text);
  };
}
