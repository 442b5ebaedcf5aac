/**
 * A packed tokenizer is the tokenizer that it was packed from. Oracle: the same files, loaded from their lists; for
 * real ones also the Rust `tokenizers` (tokenizer-oracle.test.ts).
 */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import { loadPackedTokenizer, loadTokenizer, packTokenizer } from "../../src/index.ts";
import { loadFolder, loadPackedFolder } from "../support/real-tokenizers.ts";

/** Reading and packing a real tokenizer takes seconds on a busy machine. */
setDefaultTimeout(60_000);

describe.each(["byte", "policy", "qwen2_5", "qwen3", "llama3_1", "deepseek_v3"])("%s", (name) => {
  test("every entry, every added token and what it is called are the same", async () => {
    const { tokenizer: listed } = await loadFolder(name);
    const { tokenizer: packed } = await loadPackedFolder(name);
    expect(await packed.fingerprint()).toBe(await listed.fingerprint());
    for (const field of [
      "vocabSize",
      "addedTokens",
      "eosIds",
      "specialTexts",
      "chatTemplate",
    ] as const) {
      expect(packed[field]).toEqual(listed[field]);
    }
    const wrong: number[] = [];
    for (let id = -1; id < listed.vocabSize + 2; id++) {
      const entry = listed.entryOf(id);
      const isSame =
        packed.entryOf(id) === entry &&
        (entry === null || packed.idOf(entry) === listed.idOf(entry));
      if (!isSame) wrong.push(id);
    }
    expect(wrong).toEqual([]);
    for (const stranger of ["", "constructor", "\ud800", "no such entry", "Ġ Ġ"]) {
      expect(packed.idOf(stranger)).toBe(listed.idOf(stranger));
    }
  });
});

/** What run records and metadata of older versions hold: a value that changes breaks every `--resume`. */
test.each([
  ["qwen2_5", "61ec95c6b6b11eb96180cf22634ecb6ea2241de5c5b878bc50a00ab41c3b5133"],
  ["qwen3", "a366370624179c2784efc72447876347fc2b677504025dde5d4f6e77cc432a54"],
  ["llama3_1", "1c7980355f00261536efb9c63fb4c3ae8b1296a2b92964a6dbf4d1ebd2ef7be8"],
  ["deepseek_v3", "3fc8c8c9fda5bf6c2e7c4931777361c31113d942c6793d948b95d7068b7e92a6"],
])("the fingerprint of %s is the recorded one", async (name, recorded) => {
  const { tokenizer } = await loadPackedFolder(name);
  expect(await tokenizer.fingerprint()).toBe(recorded);
});

/** The bytes of é are spelled by two characters, as byte-level vocabularies do. */
const LETTERS = ["a", "b", "Ã", "©"];
const word = fc.string({ unit: fc.constantFrom(...LETTERS), minLength: 1, maxLength: 2 });

type Model = {
  readonly words: readonly string[];
  /** Some name entries that are not there, some come twice. */
  readonly merges: readonly (readonly [string, string])[];
  readonly asText: boolean;
  /** Ids that nothing has. */
  readonly gap: number;
  readonly control: readonly string[];
  readonly ignoreMerges: boolean;
};

const model: fc.Arbitrary<Model> = fc.record({
  words: fc.array(word, { maxLength: 12 }),
  merges: fc.array(fc.tuple(word, word), { maxLength: 16 }),
  asText: fc.boolean(),
  gap: fc.integer({ min: 0, max: 3 }),
  control: fc.array(word, { maxLength: 2 }),
  ignoreMerges: fc.boolean(),
});

function tokenizerJson({ words, merges, asText, gap, control, ignoreMerges }: Model) {
  const results = merges.map((pair) => pair.join("")).filter((_, i) => i % 5 !== 4);
  const entries = [...new Set([...LETTERS, ...words, ...results])];
  const vocab = Object.fromEntries(entries.map((entry, i) => [entry, i < 4 ? i : i + gap]));
  return {
    added_tokens: control.map((content, i) => ({ id: 100 + i, content, special: true })),
    normalizer: null,
    pre_tokenizer: { type: "ByteLevel", add_prefix_space: false, use_regex: false },
    decoder: { type: "ByteLevel" },
    model: {
      type: "BPE",
      vocab,
      merges: asText ? merges.map((pair) => pair.join(" ")) : merges,
      ignore_merges: ignoreMerges,
    },
  };
}

test("any vocabulary, any merges, control tokens among the entries: any text has the same ids", () => {
  const text = fc.string({
    unit: fc.constantFrom("a", "b", "é", "x"),
    minLength: 8,
    maxLength: 40,
  });
  let merged = 0;
  fc.assert(
    fc.property(model, fc.array(text, { minLength: 2, maxLength: 4 }), (any, texts) => {
      const json = tokenizerJson(any);
      const listed = loadTokenizer({ tokenizer: json, config: {} });
      const bytes = packTokenizer(json, "f");
      const packed = bytes && loadPackedTokenizer(bytes, { config: {} });
      for (const each of texts) {
        const ids = listed.encodePlain(each);
        if (ids.some((id) => id > 3)) merged += 1;
        expect(packed?.encodePlain(each)).toEqual(ids);
        expect(packed?.encode(each)).toEqual(listed.encode(each));
      }
    }),
    { numRuns: 500 },
  );
  expect(merged).toBeGreaterThan(300);
});

describe("what is not packed is read from its lists", () => {
  const bpe = (vocab: Readonly<Record<string, number>>, merges: readonly unknown[] = []) => ({
    ...tokenizerJson({
      words: [],
      merges: [],
      asText: false,
      gap: 0,
      control: [],
      ignoreMerges: false,
    }),
    model: { type: "BPE", vocab, merges },
  });
  test.each([
    ["pieces with scores", { model: { type: "Unigram", vocab: [["a", 0]] } }],
    ["two entries with one id", bpe({ a: 0, b: 0 })],
    ["an entry without a character", bpe({ a: 0, "": 1 })],
    ["an entry that is no text", bpe({ a: 0, "\ud800": 1 })],
    ["a merge that can be read in two ways", bpe({ a: 0, "a a": 1 }, ["a a a"])],
    ["nothing", null],
  ])("%s", (_name, json) => {
    expect(packTokenizer(json, "f")).toBeNull();
  });
});

describe("bytes", () => {
  const json = tokenizerJson({
    words: ["ab"],
    merges: [["a", "b"]],
    asText: true,
    gap: 1,
    control: [],
    ignoreMerges: false,
  });
  const bytes = packTokenizer(json, "f") ?? new Uint8Array();

  test("may lie anywhere", () => {
    const shifted = new Uint8Array(bytes.length + 1);
    shifted.set(bytes, 1);
    const packed = loadPackedTokenizer(shifted.subarray(1), { config: {} });
    expect(packed?.encodePlain("aab")).toEqual(Int32Array.of(0, 5));
  });

  test("of another version, cut off, or too many are none", () => {
    const other = bytes.slice();
    other[0] = (other[0] ?? 0) + 1;
    const longer = new Uint8Array(bytes.length + 4);
    longer.set(bytes);
    for (const none of [
      other,
      bytes.subarray(0, -4),
      bytes.subarray(0, 6),
      longer,
      new Uint8Array(),
    ])
      expect(loadPackedTokenizer(none, { config: {} })).toBeNull();
  });

  test("the config is not packed: it says anew what ends a turn and what is special", () => {
    const packed = loadPackedTokenizer(bytes, { config: { eos_token: "ab" } });
    expect(packed?.eosIds).toEqual([5]);
    expect(() => loadPackedTokenizer(bytes, { config: { eos_token: "gone" } })).toThrow(
      "expected eos_token of tokenizer_config.json to be in the vocabulary",
    );
  });
});
