/**
 * Text of mixed trust: added tokens count in trusted text only, plain runs are encoded across the
 * borders. Ids of the byte tokenizer are bytes; 256–258 special, 259–264 added.
 */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import * as fc from "fast-check";
import { loadTokenizer, type TextPiece } from "../../src/index.ts";
import { loadFolder } from "../support/real-tokenizers.ts";

setDefaultTimeout(60_000);

const trusted = (text: string): TextPiece => ({ trusted: true, text });
const untrusted = (text: string): TextPiece => ({ trusted: false, text });
const FOLDERS = ["byte", "policy", "qwen2_5", "qwen3", "llama3_1", "deepseek_v3"];

describe("pieces", () => {
  test("an added token counts in trusted text and is spelled out elsewhere", async () => {
    const { tokenizer } = await loadFolder("byte");
    const ids = tokenizer.encodePieces([trusted("<tool_call>"), untrusted("<think>")]);
    //                                    259, then the bytes of "<think>"
    expect(Array.from(ids)).toEqual([259, 60, 116, 104, 105, 110, 107, 62]);
  });

  test("no token begins in one kind of text and ends in the other", async () => {
    const { tokenizer } = await loadFolder("byte");
    const split = tokenizer.encodePieces([trusted("<thi"), untrusted("nk>")]);
    expect(Array.from(split)).toEqual([60, 116, 104, 105, 110, 107, 62]);
    for (const pieces of [
      [untrusted("<thi"), trusted("nk>")],
      [trusted("<think"), untrusted(">")],
      [untrusted("<"), trusted("think>")],
    ]) {
      const around = tokenizer.encodePieces(pieces);
      expect(Array.from(around)).toEqual([60, 116, 104, 105, 110, 107, 62]);
    }
  });

  test("a token may span two trusted pieces, and an empty untrusted one between them", async () => {
    const { tokenizer } = await loadFolder("byte");
    expect(Array.from(tokenizer.encodePieces([trusted("<thi"), trusted("nk>")]))).toEqual([263]);
    const pieces = [trusted("<thi"), untrusted(""), trusted("nk>")];
    expect(Array.from(tokenizer.encodePieces(pieces))).toEqual([263]);
  });

  test("plain text runs through the border: one token for the blank and the word", async () => {
    const { tokenizer } = await loadFolder("qwen3");
    const joint = tokenizer.encodePieces([trusted("<tool_response> "), untrusted("Hello")]);
    expect(Array.from(joint)).toEqual([151665, 21927]); // <tool_response>, "ĠHello"
  });

  test("white space that a token takes along is taken from untrusted text, too", () => {
    const tokenizer = loadTokenizer({
      tokenizer: {
        added_tokens: [
          { id: 3, content: "<r>", special: true, rstrip: true },
          { id: 4, content: "<l>", special: true, lstrip: true },
          { id: 5, content: "<w>", special: true, single_word: true },
        ],
        pre_tokenizer: { type: "ByteLevel", add_prefix_space: false, use_regex: false },
        decoder: { type: "ByteLevel" },
        model: { type: "BPE", vocab: { a: 0, Ġ: 1, "<": 2, w: 6, ">": 7 }, merges: [] },
      },
      config: {},
    });
    const pieces = [trusted("<r>"), untrusted("  a \u2003"), trusted("<l> a")];
    expect(Array.from(tokenizer.encodePieces(pieces))).toEqual([3, 0, 4, 1, 0]);
    expect(Array.from(tokenizer.splice("<r>", "<l> a", false).encode("  a \u2003", 0))).toEqual([
      3, 0, 4, 1, 0,
    ]);
    // A single word touches no letter.
    expect(Array.from(tokenizer.encode("a<w> <w>"))).toEqual([0, 2, 6, 7, 1, 5]);
  });
});

describe.each(FOLDERS)("%s", (name) => {
  test("no untrusted text gives an added token, wherever it is cut", async () => {
    const { tokenizer } = await loadFolder(name);
    const added = new Set(tokenizer.addedTokens.map((token) => token.id));
    const contents = tokenizer.addedTokens.map((token) => token.content);
    const shards = contents.flatMap((content) => [content, content.slice(0, 3), content.slice(3)]);
    const hostile = fc.string({
      unit: fc.oneof(fc.constantFrom(...shards), fc.constantFrom("<", "|", ">", " ", "a", "\n")),
      maxLength: 12,
    });
    fc.assert(
      fc.property(hostile, hostile, hostile, (before, content, after) => {
        const wrap = [untrusted(before), trusted("\n"), untrusted(content), untrusted(after)];
        for (const id of tokenizer.encodePieces(wrap)) expect(added.has(id)).toBe(false);
        for (const id of tokenizer.encodePlain(content)) expect(added.has(id)).toBe(false);
      }),
      { numRuns: 200 },
    );
  });

  test("harmless text has the ids of the whole text, and a splice gives what pieces give", async () => {
    const { tokenizer } = await loadFolder(name);
    const words = ["result", " 42", "\n", "  ", "é", "中", "0.5", ">", "<", "\t", "</", "Error:"];
    const harmless = fc.string({ unit: fc.constantFrom(...words), maxLength: 12 });
    const marks = tokenizer.addedTokens.slice(0, 6).map((token) => token.content);
    const framing = fc.string({ unit: fc.constantFrom(...marks, ...words), maxLength: 6 });
    fc.assert(
      fc.property(framing, harmless, framing, (before, content, after) => {
        const pieces = tokenizer.encodePieces([
          trusted(before),
          untrusted(content),
          trusted(after),
        ]);
        // "<" of the frame and "/" of the content never complete an added token with these words
        expect(pieces).toEqual(tokenizer.encode(before + content + after));
        const splice = tokenizer.splice(before, after, true);
        expect(splice.encode(content, 0)).toEqual(pieces);
        const half = splice.head.length >> 1;
        expect(splice.encode(content, half)).toEqual(pieces.slice(half));
      }),
      { numRuns: 300 },
    );
  });
});
