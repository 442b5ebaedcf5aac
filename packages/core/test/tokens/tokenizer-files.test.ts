/** What a tokenizer's files say: ids by name, templates, fingerprints; and files that are refused, in one sentence. */
import { describe, expect, test } from "bun:test";
import { canonicalJson, loadTokenizer, sha256Hex } from "../../src/index.ts";
import { loadFolder } from "../support/real-tokenizers.ts";

/** ids 0–3: a, b, ab, <end>; 4 = <call>, added but not special */
function tiny(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    added_tokens: [
      { id: 3, content: "<end>", special: true },
      { id: 4, content: "<call>", special: false },
    ],
    normalizer: null,
    pre_tokenizer: { type: "ByteLevel", add_prefix_space: false, use_regex: false },
    decoder: { type: "ByteLevel" },
    model: { type: "BPE", vocab: { a: 0, b: 1, ab: 2 }, merges: ["a b"] },
    ...changes,
  };
}

describe("what the files say", () => {
  test("ids, end of sequence, special texts", () => {
    const tokenizer = loadTokenizer({ tokenizer: tiny(), config: { eos_token: "<end>" } });
    expect(tokenizer.vocabSize).toBe(5);
    expect(tokenizer.eosIds).toEqual([3]);
    expect(tokenizer.specialTexts).toEqual({ eos_token: "<end>" });
    expect(Array.from(tokenizer.encode("aab<call>b<end>"))).toEqual([0, 2, 4, 1, 3]);
    expect(tokenizer.decode([0, 2, 4, 1, 3])).toBe("aab<call>b");
    expect([tokenizer.idOf("<call>"), tokenizer.idOf("ab"), tokenizer.idOf("x")]).toEqual([
      4,
      2,
      null,
    ]);
    expect([tokenizer.entryOf(4), tokenizer.entryOf(2), tokenizer.entryOf(9)]).toEqual([
      "<call>",
      "ab",
      null,
    ]);
  });

  test("what the vocabulary cannot spell is left out where it names no unknown token", () => {
    const vocab = { a: 0, null: 1, constructor: 2 };
    const named = (unk_token: string | null) =>
      loadTokenizer({
        tokenizer: tiny({ model: { type: "BPE", vocab, merges: [], unk_token } }),
        config: {},
      });
    expect(Array.from(named(null).encodePlain("axa"))).toEqual([0, 0]);
    expect(Array.from(named("null").encodePlain("axxa"))).toEqual([0, 1, 1, 0]);
    const model = { type: "BPE", vocab, merges: [], unk_token: "null", fuse_unk: true };
    const fused = loadTokenizer({ tokenizer: tiny({ model }), config: {} });
    expect(Array.from(fused.encodePlain("axxaxa"))).toEqual([0, 1, 0, 1, 0]);
    expect([named(null).idOf("constructor"), named(null).idOf("toString")]).toEqual([2, null]);
  });

  test("a pre-token that is an entry is taken whole where the model says so", () => {
    const whole = (ignore_merges: boolean) =>
      loadTokenizer({
        tokenizer: tiny({
          model: { type: "BPE", vocab: { a: 0, b: 1, abba: 2 }, merges: [], ignore_merges },
        }),
        config: {},
      });
    expect(Array.from(whole(true).encodePlain("abba"))).toEqual([2]);
    expect(Array.from(whole(true).encodePlain("abbab"))).toEqual([0, 1, 1, 0, 1]);
    expect(Array.from(whole(false).encodePlain("abba"))).toEqual([0, 1, 1, 0]);
  });

  test("no end of sequence is legal", () => {
    expect(loadTokenizer({ tokenizer: tiny(), config: {} }).eosIds).toEqual([]);
    expect(loadTokenizer({ tokenizer: tiny(), config: { eos_token: null } }).eosIds).toEqual([]);
  });

  test("a token that the config names special is special, written as a text or as an object", () => {
    const named = { pad_token: { content: "<call>" } };
    const tokenizer = loadTokenizer({ tokenizer: tiny(), config: named });
    expect(tokenizer.decode([0, 4, 1])).toBe("ab");
    const listed = { additional_special_tokens: ["<call>"] };
    expect(loadTokenizer({ tokenizer: tiny(), config: listed }).decode([0, 4, 1])).toBe("ab");
  });

  test("nothing, unknown ids and ids out of range decode to nothing", () => {
    const tokenizer = loadTokenizer({ tokenizer: tiny(), config: {} });
    expect(tokenizer.decode([])).toBe("");
    expect(tokenizer.decode(new Int32Array(0))).toBe("");
    expect(tokenizer.decode([0, -1, 5, 1_000_000_000, 2 ** 31, 1])).toBe("ab");
  });

  test("of several named templates the one for tools is taken, and a file of its own wins", () => {
    const chat_template = [
      { name: "default", template: "D" },
      { name: "tool_use", template: "T" },
    ];
    const files = { tokenizer: tiny(), config: { chat_template } };
    expect(loadTokenizer(files).chatTemplate).toBe("T");
    expect(loadTokenizer({ ...files, chatTemplate: "F" }).chatTemplate).toBe("F");
    expect(loadTokenizer({ tokenizer: tiny(), config: {} }).chatTemplate).toBe(null);
  });

  test("vocabulary listed as added stays plain text unless the template uses it", () => {
    const json = tiny({
      added_tokens: [{ id: 2, content: "ab", special: false }],
      model: { type: "BPE", vocab: { a: 0, b: 1, ab: 2 }, merges: [] },
    });
    const plain = loadTokenizer({ tokenizer: json, config: {} });
    expect(Array.from(plain.encodePlain("aab"))).toEqual([0, 2]);
    const used = loadTokenizer({ tokenizer: json, config: {}, chatTemplate: "{{ 'ab' }}" });
    expect(Array.from(used.encodePlain("aab"))).toEqual([0, 0, 1]);
    expect(Array.from(used.encode("aab"))).toEqual([0, 2]);
  });
});

describe("files that cannot be used", () => {
  test.each([
    [
      "no object",
      { tokenizer: "text", config: {} },
      'Tokenizer cannot be used: expected tokenizer.json to hold an object, seen "text"; use the tokenizer.json that belongs to the model',
    ],
    [
      "no model",
      { tokenizer: tiny({ model: undefined }), config: {} },
      'Tokenizer cannot be used: expected an object under "model", seen nothing; use the tokenizer.json that belongs to the model',
    ],
    [
      "a model of another kind",
      { tokenizer: tiny({ model: { type: "WordPiece", vocab: {} } }), config: {} },
      'Tokenizer cannot be used: expected a model of type BPE, Unigram, seen "WordPiece"; use the tokenizer.json that belongs to the model',
    ],
    [
      "byte pairs without merges",
      { tokenizer: tiny({ model: { type: "BPE", vocab: { a: 0 } } }), config: {} },
      'Tokenizer cannot be used: expected a list under "model.merges", seen nothing; use the tokenizer.json that belongs to the model',
    ],
    [
      "an id that is none",
      { tokenizer: tiny({ model: { type: "BPE", vocab: { a: -1 }, merges: [] } }), config: {} },
      'Tokenizer cannot be used: expected the id of every entry to be from 0 to 16777215, seen {"a":-1}; use the tokenizer.json that belongs to the model',
    ],
    [
      "marks at the end of words",
      {
        tokenizer: tiny({
          model: { type: "BPE", vocab: { a: 0 }, merges: [], end_of_word_suffix: "</w>" },
        }),
        config: {},
      },
      'Tokenizer cannot be used: expected byte pairs without marks inside or at the end of words, seen {"end_of_word_suffix":"</w>"}; use the tokenizer.json that belongs to the model',
    ],
    [
      "no vocabulary",
      { tokenizer: tiny({ model: { type: "BPE", merges: [] } }), config: {} },
      'Tokenizer cannot be used: expected a vocabulary under "model.vocab", seen nothing; use the tokenizer.json that belongs to the model',
    ],
    [
      "a decoder of another kind",
      { tokenizer: tiny({ decoder: { type: "CTC" } }), config: {} },
      'Tokenizer cannot be used: expected a decoder made of ByteLevel, or of Replace, ByteFallback, Fuse, Strip, Metaspace, seen {"type":"CTC"}; use the tokenizer.json that belongs to the model',
    ],
    [
      "no decoder",
      { tokenizer: tiny({ decoder: null }), config: {} },
      "Tokenizer cannot be used: expected a decoder made of ByteLevel, or of Replace, ByteFallback, Fuse, Strip, Metaspace, seen null; use the tokenizer.json that belongs to the model",
    ],
    [
      "an added token without id",
      { tokenizer: tiny({ added_tokens: [{ content: "<x>" }] }), config: {} },
      'Tokenizer cannot be used: expected every added token to have an id of 0 or more, seen {"content":"<x>"}; use the tokenizer.json that belongs to the model',
    ],
    [
      "an end of sequence that is no token",
      { tokenizer: tiny(), config: { eos_token: "<gone>" } },
      'Tokenizer cannot be used: expected eos_token of tokenizer_config.json to be in the vocabulary, seen "<gone>"; use the tokenizer.json that belongs to the model',
    ],
    [
      "a step that the library does not know",
      { tokenizer: tiny({ pre_tokenizer: { type: "Novel" } }), config: {} },
      'Tokenizer cannot be used: expected steps that @huggingface/tokenizers 0.2 knows, seen "Unknown PreTokenizer type: Novel"; use another tokenizer.json',
    ],
  ])("%s", (_name, files, message) => {
    expect(() => loadTokenizer(files)).toThrow(new Error(message));
  });
});

describe("fingerprints", () => {
  test("canonical JSON sorts keys at every depth and keeps lists", () => {
    expect(canonicalJson({ b: [2, { d: 1, c: null }], a: "é" })).toBe(
      '{"a":"é","b":[2,{"c":null,"d":1}]}',
    );
  });

  test("SHA-256 of UTF-8", async () => {
    // printf 'é' | sha256sum
    expect(await sha256Hex("é")).toBe(
      "4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c",
    );
  });

  test("one fingerprint whatever the order of keys, another when a merge differs", async () => {
    const print = (json: unknown) => loadTokenizer({ tokenizer: json, config: {} }).fingerprint();
    const reversed = Object.fromEntries(Object.entries(tiny()).toReversed());
    expect(await print(reversed)).toBe(await print(tiny()));
    const other = tiny({ model: { type: "BPE", vocab: { a: 0, b: 1, ab: 2 }, merges: [] } });
    expect(await print(other)).not.toBe(await print(tiny()));
  });

  test("packages are the recorded files", async () => {
    const { sha256 } = await loadFolder("qwen3");
    expect(sha256).toBe("aeb13307a71acd8fe81861d94ad54ab689df773318809eed3cbe794b4492dae4");
  });
});
