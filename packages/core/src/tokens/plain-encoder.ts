/**
 * Encodes plain runs of text: no added token is recognised here.
 * `@huggingface/tokenizers` normalises, splits and cuts unigram words; byte pairs are merged by bpe.ts.
 * What repeats – and of program output nearly everything does – is remembered per pre-token.
 */
import { Tokenizer as LibraryTokenizer } from "@huggingface/tokenizers";
import { createBpe, type WordEncoder } from "./bpe.ts";
import type { JsonObject, TokenizerSpec } from "./tokenizer-json.ts";
import { byteLevelSplit, metaspaceSplit } from "./pre-tokens.ts";
import { refuse } from "./refuse.ts";
import { listedVocabulary } from "./vocabulary.ts";

export type PlainEncoder = Pick<WordEncoder, "entryOf" | "idOf" | "size"> & {
  /** Appends the ids of one run. `atStart`: the run begins the whole text (word markers depend on it). */
  append(ids: number[], run: string, atStart: boolean): void;
  count(run: string, atStart: boolean): number;
};

/** What may be remembered, in characters (each pre-token counts as 16 more), and the longest pre-token. */
const REMEMBERED = 1 << 20;
const LONGEST_REMEMBERED = 4096;

export function createPlainEncoder(spec: TokenizerSpec): PlainEncoder {
  const { split, words, encodeWord } = prepareSteps(spec);
  const known = new Map<string, readonly number[]>();
  let remembered = 0;
  const idsOf = (preToken: string): readonly number[] => {
    const before = known.get(preToken);
    if (before !== undefined) return before;
    const ids: number[] = [];
    encodeWord(ids, preToken);
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
    entryOf: (id) => words.entryOf(id),
    idOf: (entry) => words.idOf(entry),
    size: words.size,
    append(ids, run, atStart) {
      for (const preToken of split(run, atStart)) for (const id of idsOf(preToken)) ids.push(id);
    },
    count(run, atStart) {
      let total = 0;
      for (const preToken of split(run, atStart)) total += idsOf(preToken).length;
      return total;
    },
  };
}

type Steps = {
  /** A run as pre-tokens, each of which is encoded on its own. */
  readonly split: (run: string, atStart: boolean) => readonly string[];
  readonly encodeWord: (ids: number[], preToken: string) => void;
  readonly words: WordEncoder;
};

function prepareSteps(spec: TokenizerSpec): Steps {
  const control = new Set(
    spec.added.filter((token) => !token.isOrdinary).map((token) => token.content),
  );
  const library = loadLibrary(spec, control);
  const normalize = (text: string): string =>
    library.normalizer === null ? text : library.normalizer.normalize(text);
  const preTokenizer = spec.json["pre_tokenizer"];
  const bpe =
    spec.modelType === "BPE"
      ? createBpe(spec.model, spec.packed ?? listedVocabulary(spec.model), control)
      : null;

  const splitText = bpe === null ? null : byteLevelSplit(preTokenizer);
  if (bpe !== null && splitText !== null) {
    // The text itself is split and remembered; spelling its bytes is part of encoding.
    const split = (run: string): readonly string[] => splitText(normalize(run));
    return { split, encodeWord: (ids, preToken) => bpe.appendBytes(ids, preToken), words: bpe };
  }
  const words = bpe ?? unigram(library);
  const byMark = metaspaceSplit(preTokenizer);
  const split = (run: string, atStart: boolean): readonly string[] => {
    const text = normalize(run);
    if (text === "") return [];
    const options = { section_index: atStart ? 0 : 1 };
    const preTokens = library.pre_tokenizer?.pre_tokenize(text, options) ?? [text];
    return byMark === null ? preTokens : preTokens.flatMap(byMark);
  };
  return { split, encodeWord: (ids, preToken) => words.append(ids, preToken), words };
}

/** The library's own model. Its class is a function, which its types do not say. */
function unigram(library: LibraryTokenizer): WordEncoder {
  const model = library.model;
  if (model === null) throw refuse("expected a model that can be loaded", null);
  const cut = model as unknown as (preTokens: readonly string[]) => readonly string[];
  return {
    append(ids, word) {
      for (const piece of cut([word])) {
        const id = model.tokens_to_ids.get(piece) ?? model.unk_token_id;
        if (id !== undefined) ids.push(id);
      }
    },
    entryOf: (id) => model.vocab[id] ?? null,
    idOf: (entry) => model.tokens_to_ids.get(entry) ?? null,
    size: model.vocab.length,
  };
}

function loadLibrary(spec: TokenizerSpec, control: ReadonlySet<string>): LibraryTokenizer {
  const model =
    spec.modelType === "BPE"
      ? { type: "BPE", vocab: {}, merges: [] }
      : { ...hideControl(spec.model, control), type: spec.modelType };
  const steps = { normalizer: null, pre_tokenizer: null, ...spec.json };
  try {
    return new LibraryTokenizer(
      { ...steps, model, added_tokens: [], post_processor: null, decoder: null },
      spec.config,
    );
  } catch (error) {
    throw new Error(
      "Tokenizer cannot be used: expected steps that @huggingface/tokenizers 0.2 knows, seen " +
        `"${error instanceof Error ? error.message : String(error)}"; use another tokenizer.json`,
      { cause: error },
    );
  }
}

/** A unigram model finds its pieces anywhere in text: control tokens must not be spelled there. */
function hideControl(model: JsonObject, control: ReadonlySet<string>): JsonObject {
  const vocab = model["vocab"] as readonly unknown[];
  return {
    ...model,
    vocab: vocab.map((entry, id) =>
      Array.isArray(entry) && control.has(entry[0] as string) && id !== model["unk_id"]
        ? [`\u0000${id}`, entry[1]]
        : entry,
    ),
  };
}

/** Holds no part of the text it was cut from: a slice would keep all of it alive. */
function copyOf(text: string): string {
  return decoder.decode(encoder.encode(text));
}
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
