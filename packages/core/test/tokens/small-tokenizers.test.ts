/**
 * Kinds of tokenizers that no development package ships, built small: SentencePiece-like BPE with byte
 * fallback (Llama 2), Metaspace in all its schemes, unigram, Gemma's ordinary added tokens. Oracle:
 * the Rust `tokenizers` on the same JSON.
 */
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { Tokenizer as RustTokenizer } from "tokenizers";
import { loadTokenizer } from "../../src/index.ts";

type Json = { readonly [key: string]: unknown };

const SPECIAL = ["<unk>", "<s>", "</s>"];
const CHARACTERS = ["▁", "a", "b", "c", "é", "<", ">", "s", "\n", "\n\n"];
const MERGES = ["▁ a", "a b", "▁a b", "b ▁", "▁ ▁", "< s", "<s >", "\n \n"];

/** The 256 byte characters in the order of their own codes: which byte is which does not matter here. */
const BYTES = Array.from({ length: 0x144 }, (_, code) => code)
  .filter((code) => (code >= 0x21 && code <= 0x7e) || (code >= 0xa1 && code !== 0xad))
  .map((code) => String.fromCharCode(code));

function added(id: number, content: string, special: boolean): Json {
  return {
    id,
    content,
    special,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
  };
}

function bpe(): Json {
  const bytes = Array.from({ length: 256 }, (_, byte) => byte.toString(16).toUpperCase());
  const entries = [
    ...SPECIAL,
    ...bytes.map((hex) => `<0x${hex.padStart(2, "0")}>`),
    ...CHARACTERS,
    ...MERGES.map((merge) => merge.replace(" ", "")),
  ];
  return {
    type: "BPE",
    dropout: null,
    unk_token: "<unk>",
    continuing_subword_prefix: null,
    end_of_word_suffix: null,
    fuse_unk: true,
    byte_fallback: true,
    ignore_merges: false,
    vocab: Object.fromEntries([...new Set(entries)].map((entry, id) => [entry, id])),
    merges: MERGES.map((merge) => merge.split(" ")),
  };
}

/** ids 3–258 are the bytes, spelled as byte-level vocabularies do. */
function byteLevelBpe(): Json {
  const merges = ["Ġ a", "a b", "Ġa b", "1 2", "Ã ©", "Ġ Ġ", "Ċ Ċ"];
  const entries = [...SPECIAL, ...BYTES, ...merges.map((merge) => merge.replace(" ", ""))];
  return {
    type: "BPE",
    dropout: null,
    unk_token: null,
    continuing_subword_prefix: null,
    end_of_word_suffix: null,
    fuse_unk: false,
    byte_fallback: false,
    ignore_merges: false,
    vocab: Object.fromEntries(entries.map((entry, id) => [entry, id])),
    merges,
  };
}

function unigram(): Json {
  const pieces = ["▁", "a", "b", "c", "é", "▁a", "ab", "▁ab", "b▁", "<", "s", ">", "/"];
  const scored = pieces.map((piece, i) => [piece, -2 - i * 0.3]);
  return {
    type: "Unigram",
    unk_id: 0,
    byte_fallback: false,
    vocab: [...SPECIAL.map((token) => [token, 0]), ...scored],
  };
}

function json(parts: Json): Json {
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: SPECIAL.map((content, id) => added(id, content, true)),
    normalizer: null,
    pre_tokenizer: null,
    post_processor: null,
    decoder: null,
    ...parts,
  };
}

const metaspace = (prepend_scheme: string, split: boolean): Json => ({
  type: "Metaspace",
  replacement: "▁",
  prepend_scheme,
  split,
});

function llamaDecoder(strip: number): Json {
  const steps: Json[] = [
    { type: "Replace", pattern: { String: "▁" }, content: " " },
    { type: "ByteFallback" },
    { type: "Fuse" },
  ];
  if (strip > 0) steps.push({ type: "Strip", content: " ", start: strip, stop: 0 });
  return { type: "Sequence", decoders: steps };
}

const spacesToMarks: Json = { type: "Replace", pattern: { String: " " }, content: "▁" };
const CASES: readonly (readonly [string, Json])[] = [
  ...["always", "first", "never"].flatMap((scheme) =>
    [true, false].map((split): readonly [string, Json] => {
      const step = metaspace(scheme, split);
      const parts = { model: bpe(), pre_tokenizer: step, decoder: step };
      return [`BPE, Metaspace ${scheme}, split ${split}`, json(parts)];
    }),
  ),
  ...["always", "first", "never"].map((scheme): readonly [string, Json] => {
    const step = metaspace(scheme, true);
    return [
      `unigram, Metaspace ${scheme}`,
      json({ model: unigram(), pre_tokenizer: step, decoder: step }),
    ];
  }),
  [
    "BPE as Llama 2 has it",
    json({
      model: bpe(),
      normalizer: {
        type: "Sequence",
        normalizers: [{ type: "Prepend", prepend: "▁" }, spacesToMarks],
      },
      decoder: llamaDecoder(1),
    }),
  ],
  [
    "BPE as Gemma has it, white space listed as added",
    json({
      model: bpe(),
      normalizer: spacesToMarks,
      added_tokens: [
        ...SPECIAL.map((content, id) => added(id, content, true)),
        added((bpe()["vocab"] as Record<string, number>)["\n\n"] as number, "\n\n", false),
      ],
      decoder: llamaDecoder(0),
    }),
  ],
  ...(
    [
      ["as GPT-2 has it", [{ type: "ByteLevel", add_prefix_space: false, use_regex: true }]],
      ["that puts a blank in front", [{ type: "ByteLevel", add_prefix_space: true }]],
      [
        "that splits digits first",
        [
          { type: "Digits", individual_digits: true },
          { type: "ByteLevel", add_prefix_space: false, use_regex: true },
        ],
      ],
      ["that splits nothing", [{ type: "ByteLevel", add_prefix_space: false, use_regex: false }]],
    ] as const
  ).map(([name, steps]): readonly [string, Json] => [
    `byte-level BPE ${name}`,
    json({
      model: byteLevelBpe(),
      pre_tokenizer: {
        type: "Sequence",
        pretokenizers: steps.map((step) => ({ trim_offsets: true, ...step })),
      },
      decoder: { type: "ByteLevel", add_prefix_space: true, trim_offsets: true, use_regex: true },
    }),
  ]),
  ["BPE that strips two blanks", json({ model: bpe(), decoder: llamaDecoder(2) })],
];

const PIECES = [
  "a",
  "b",
  "ab",
  " ",
  "  ",
  "c",
  "é",
  "</s>",
  "中",
  "\n",
  "\n\n",
  "x",
  " a",
  "🙂",
  "12",
  "'s",
  "!",
];
const harmless = fc.string({ unit: fc.constantFrom(...PIECES), maxLength: 10 });
const withControl = fc.string({ unit: fc.constantFrom(...PIECES, "<s>"), maxLength: 10 });

describe.each(CASES)("%s", (_name, parts) => {
  const tokenizer = loadTokenizer({ tokenizer: parts, config: { eos_token: "</s>" } });
  const rust = RustTokenizer.fromString(JSON.stringify(parts));
  const encode = async (input: string): Promise<number[]> =>
    (await rust.encode(input, null, { addSpecialTokens: false })).getIds();

  test("encodes as Rust does", async () => {
    await fc.assert(
      fc.asyncProperty(withControl, async (input) => {
        expect(Array.from(tokenizer.encode(input))).toEqual(await encode(input));
      }),
      { numRuns: 400 },
    );
  });

  test("plain text without the spelling of a control token is encoded as Rust does", async () => {
    await fc.assert(
      fc.asyncProperty(harmless, async (input) => {
        fc.pre(!input.includes("</s>"));
        expect(Array.from(tokenizer.encodePlain(input))).toEqual(await encode(input));
      }),
      { numRuns: 400 },
    );
  });

  test("no plain text gives a control token, although the vocabulary spells and merges them", () => {
    fc.assert(
      fc.property(withControl, (input) => {
        const ids = Array.from(tokenizer.encodePlain(input));
        expect(ids.filter((id) => id === 1 || id === 2)).toEqual([]);
      }),
      { numRuns: 400 },
    );
  });

  test("decodes any ids as Rust does, whole and as a stream", async () => {
    const id = fc.oneof(
      fc.integer({ min: 0, max: tokenizer.vocabSize - 1 }),
      fc.integer({ min: Math.max(0, tokenizer.vocabSize - 20), max: tokenizer.vocabSize - 1 }),
      fc.constantFrom(0, 1, 2),
    );
    const all = tokenizer.decoder([]);
    const withoutSpecial = tokenizer.decoder([0, 1, 2]);
    await fc.assert(
      fc.asyncProperty(fc.array(id, { maxLength: 10 }), async (ids) => {
        const whole = all.decode(ids);
        expect(whole).toBe(await rust.decode(ids, false));
        expect(withoutSpecial.decode(ids)).toBe(await rust.decode(ids, true));
        const stream = all.stream();
        let emitted = "";
        for (const one of ids) emitted += stream.push([one]);
        expect(emitted + stream.end()).toBe(whole);
      }),
      { numRuns: 400 },
    );
  });
});

test("bytes of a fallback run that is no UTF-8 become one U+FFFD each, others a character", () => {
  const [, llama] = CASES.find(([name]) => name.includes("Llama 2")) as readonly [string, Json];
  const tokenizer = loadTokenizer({ tokenizer: llama, config: {} });
  // ids 3–258 are the bytes 0–255; F0 9F 99 82 is 🙂
  const smile = [0xf0, 0x9f, 0x99, 0x82].map((byte) => byte + 3);
  expect(tokenizer.decode(smile)).toBe("🙂");
  expect(tokenizer.decode(smile.slice(0, 3))).toBe("\ufffd\ufffd\ufffd");
});

describe("control tokens that the vocabulary itself spells", () => {
  /** ids 0 <s>, 1 "<", 2 "s", 3 ">", 4 "<s": no byte fallback that could hide a loss. */
  const spelled = (ignore_merges: boolean): Json => ({
    added_tokens: [added(0, "<s>", true)],
    normalizer: null,
    pre_tokenizer: null,
    decoder: { type: "Fuse" },
    model: {
      type: "BPE",
      vocab: { "<s>": 0, "<": 1, s: 2, ">": 3, "<s": 4 },
      merges: ["< s", "<s >"],
      ignore_merges,
    },
  });

  test.each([false, true])("stay text when they are merged or looked up whole: %p", (ignore) => {
    const tokenizer = loadTokenizer({ tokenizer: spelled(ignore), config: {} });
    expect(Array.from(tokenizer.encodePlain("<s>"))).toEqual([4, 3]);
    expect(Array.from(tokenizer.encode("<s>"))).toEqual([0]);
    expect(tokenizer.decoder([]).decode([4, 3])).toBe("<s>");
  });
});

test("only the very first run of a text begins with the mark of a first word", () => {
  const step = metaspace("first", false);
  const parts = json({ model: bpe(), pre_tokenizer: step, decoder: step });
  const tokenizer = loadTokenizer({ tokenizer: parts, config: {} });
  const a = tokenizer.idOf("a") as number;
  const marked = tokenizer.idOf("▁a") as number;
  expect(Array.from(tokenizer.encode("a<s>a"))).toEqual([marked, 1, a]);
  expect(Array.from(tokenizer.splice("<s>", "", true).encode("a", 0))).toEqual([1, a]);
  expect(Array.from(tokenizer.splice("", "<s>", true).encode("a", 0))).toEqual([marked, 1]);
  expect(Array.from(tokenizer.splice("", "<s>", false).encode("a", 0))).toEqual([a, 1]);
  expect(Array.from(tokenizer.encodePlain("a", false))).toEqual([a]);
});
