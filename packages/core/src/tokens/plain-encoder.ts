/**
 * Encodes plain runs of text: no added token is recognised here.
 * `@huggingface/tokenizers` decides everything (normaliser, pre-tokeniser, merges); what repeats –
 * and of program output nearly everything does – is remembered per pre-token.
 */
import {
  ByteLevelPreTokenizer,
  SplitPreTokenizer,
  Tokenizer as LibraryTokenizer,
} from "@huggingface/tokenizers";
import type { JsonObject, TokenizerSpec } from "./tokenizer-json.ts";
import { refuse } from "./tokenizer-json.ts";

export type PlainEncoder = {
  /** Appends the ids of one run. `atStart`: the run begins the whole text (word markers depend on it). */
  append(ids: number[], run: string, atStart: boolean): void;
  count(run: string, atStart: boolean): number;
  /** The model's own entry of an id; null where there is none. */
  entryOf(id: number): string | null;
  idOf(entry: string): number | null;
  /** Highest id + 1 of the model's vocabulary. */
  readonly size: number;
};

/** What may be remembered, in characters (each pre-token counts as 16 more), and the longest pre-token. */
const REMEMBERED = 1 << 20;
const LONGEST_REMEMBERED = 4096;

export function createPlainEncoder(spec: TokenizerSpec): PlainEncoder {
  const library = loadLibrary(spec);
  const model = library.model;
  if (model === null) throw refuse("expected a model that can be loaded", spec.modelType);
  const appendEntries = (ids: number[], found: readonly string[]): void => {
    for (const entry of found) {
      const id = model.tokens_to_ids.get(entry) ?? model.unk_token_id;
      if (id !== undefined) ids.push(id);
    }
  };
  const normalize = (text: string): string =>
    library.normalizer === null ? text : library.normalizer.normalize(text);

  const split = byteLevelSplit(spec);
  if (split === null) {
    const words = metaspaceWords(spec);
    const append = (ids: number[], run: string, atStart: boolean): void => {
      const text = normalize(run);
      if (text === "") return;
      const options = { section_index: atStart ? 0 : 1 };
      const preTokens = library.pre_tokenizer?.pre_tokenize(text, options) ?? [text];
      appendEntries(ids, callModel(model, words === null ? preTokens : preTokens.flatMap(words)));
    };
    const count = (run: string, atStart: boolean): number => {
      const ids: number[] = [];
      append(ids, run, atStart);
      return ids.length;
    };
    return { append, count, ...entries(model.tokens_to_ids, model.vocab) };
  }

  const toBytes = new ByteLevelPreTokenizer({
    type: "ByteLevel",
    add_prefix_space: false,
    trim_offsets: true,
    use_regex: false,
  });
  const known = new Map<string, readonly number[]>();
  let remembered = 0;
  const idsOf = (preToken: string): readonly number[] => {
    const before = known.get(preToken);
    if (before !== undefined) return before;
    const ids: number[] = [];
    appendEntries(ids, model.encode(toBytes.pre_tokenize_text(preToken)));
    if (preToken.length <= LONGEST_REMEMBERED) {
      remembered += preToken.length + 16;
      if (remembered > REMEMBERED) {
        known.clear();
        remembered = 0;
      }
      const key = copyOf(preToken);
      if (key === preToken) known.set(key, ids);
    }
    return ids;
  };
  return {
    append(ids, run) {
      for (const preToken of split(normalize(run))) for (const id of idsOf(preToken)) ids.push(id);
    },
    count(run) {
      let total = 0;
      for (const preToken of split(normalize(run))) total += idsOf(preToken).length;
      return total;
    },
    ...entries(model.tokens_to_ids, model.vocab),
  };
}

/** The model with its fusing of unknown pieces: the class is a function, which its types do not say. */
function callModel(model: unknown, preTokens: readonly string[]): readonly string[] {
  return (model as (tokens: readonly string[]) => string[])(preTokens);
}

function loadLibrary(spec: TokenizerSpec): LibraryTokenizer {
  const control = new Set(
    spec.added.filter((token) => !token.isOrdinary).map((token) => token.content),
  );
  try {
    const library = new LibraryTokenizer(
      {
        normalizer: null,
        pre_tokenizer: null,
        ...spec.json,
        model: { ...hideControl(spec, control), type: spec.modelType },
        added_tokens: [],
        post_processor: null,
        decoder: null,
      },
      spec.config,
    );
    // A whole pre-token may be looked up before it is merged: it must not be found as control either.
    if (spec.modelType === "BPE") {
      for (const content of control) library.model?.tokens_to_ids.delete(content);
    }
    return library;
  } catch (error) {
    throw new Error(
      "Tokenizer cannot be used: expected steps that @huggingface/tokenizers 0.2 knows, seen " +
        `"${error instanceof Error ? error.message : String(error)}"; use another tokenizer.json`,
      { cause: error },
    );
  }
}

/** Where the vocabulary itself spells control tokens, plain text must not be merged into one. */
function hideControl(spec: TokenizerSpec, control: ReadonlySet<string>): JsonObject {
  const { vocab, merges } = spec.model;
  if (spec.modelType === "Unigram" && Array.isArray(vocab)) {
    return {
      ...spec.model,
      vocab: vocab.map((entry: unknown, id) =>
        Array.isArray(entry) && control.has(entry[0] as string) && id !== spec.model["unk_id"]
          ? [`\u0000${id}`, entry[1]]
          : entry,
      ),
    };
  }
  const spelled = [...control].filter((content) => Object.hasOwn(vocab as JsonObject, content));
  if (spelled.length === 0 || !Array.isArray(merges)) return spec.model;
  return { ...spec.model, merges: merges.filter((merge) => !control.has(mergedText(merge))) };
}

function mergedText(merge: unknown): string {
  return Array.isArray(merge) ? merge.join("") : String(merge).replace(" ", "");
}

function entries(
  ids: ReadonlyMap<string, number>,
  vocab: readonly string[],
): Pick<PlainEncoder, "entryOf" | "idOf" | "size"> {
  return {
    entryOf: (id) => vocab[id] ?? null,
    idOf: (entry) => ids.get(entry) ?? null,
    size: vocab.length,
  };
}

/** Holds no part of the text it was cut from: a slice would keep all of it alive. */
function copyOf(text: string): string {
  return decoder.decode(encoder.encode(text));
}
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

const GPT2_WORDS =
  "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

/**
 * The pre-tokeniser up to its last step, when that step is the byte-level one and each pre-token is
 * then encoded on its own: this is what makes remembering exact. null = another kind of tokenizer.
 */
function byteLevelSplit(spec: TokenizerSpec): ((text: string) => readonly string[]) | null {
  const steps = flattenSteps(spec.json["pre_tokenizer"]);
  const last = steps.pop();
  const isByteLevel = last?.["type"] === "ByteLevel" && last["add_prefix_space"] !== true;
  if (!isByteLevel || spec.modelType !== "BPE" || spec.model["fuse_unk"] === true) return null;
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
function metaspaceWords(spec: TokenizerSpec): ((preToken: string) => readonly string[]) | null {
  const step = flattenSteps(spec.json["pre_tokenizer"]).pop();
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
