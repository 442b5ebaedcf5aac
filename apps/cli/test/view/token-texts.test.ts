/** Single ids as a page shows them: parts of characters as bytes, never as replacement characters. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { loadTokenizer } from "@interlace/core";
import { readTokenizerFolder } from "../../src/rollout/tokenizer-folder.ts";
import { toText } from "../../src/view/html/markup.ts";
import { renderTokens } from "../../src/view/html/tokens.ts";
import { createTokenTexts, joinBytes } from "../../src/view/token-texts.ts";

const BYTES = join(import.meta.dir, "../../../../vectors/byte-tokenizer");
const bytes = loadTokenizer(await readTokenizerFolder(BYTES));

/** Word marks, and bytes where a character has no entry: the form of SentencePiece. */
const pieces = loadTokenizer({
  tokenizer: {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: [],
    normalizer: null,
    pre_tokenizer: { type: "Metaspace", replacement: "▁", prepend_scheme: "always", split: false },
    post_processor: null,
    decoder: {
      type: "Sequence",
      decoders: [
        { type: "Replace", pattern: { String: "▁" }, content: " " },
        { type: "ByteFallback" },
        { type: "Fuse" },
        { type: "Strip", content: " ", start: 1, stop: 0 },
      ],
    },
    model: {
      type: "BPE",
      unk_token: null,
      byte_fallback: true,
      vocab: {
        "▁": 256,
        a: 257,
        "▁a": 258,
        ...Object.fromEntries(
          Array.from({ length: 256 }, (_, byte) => [
            `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`,
            byte,
          ]),
        ),
      },
      merges: ["▁ a"],
    },
  },
  config: {},
});

function show(tokenizer: typeof bytes, ids: readonly number[]): string {
  const texts = createTokenTexts(tokenizer);
  const run = { kind: "context", start: 0, ids: Int32Array.from(ids), logprobs: null };
  const markup = toText(renderTokens(run, null, texts));
  return [...markup.matchAll(/<b[^>]*>(.*?)<\/b>/gs)].map(([, text]) => text).join("|");
}

test("every byte of a byte-level vocabulary that UTF-8 has is known", () => {
  const { pieceOf } = createTokenTexts(bytes);
  const never = new Set([
    0xc0, 0xc1, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff,
  ]);
  for (let byte = 0; byte < 256; byte++) {
    const char = byte < 0x80 ? String.fromCharCode(byte) : null;
    expect(pieceOf(byte)).toEqual(
      char !== null
        ? { type: "text", text: char }
        : { type: "bytes", bytes: never.has(byte) ? null : Uint8Array.of(byte) },
    );
  }
});

test("the last part of a character says which one it is", () => {
  expect(show(bytes, [0x61, 0xe2, 0x82, 0xac, 0x62])).toBe("a|E2|82|AC=€|b");
  expect(show(bytes, [0xf0, 0x9f, 0x98, 0x80])).toBe("F0|9F|98|80=😀");
  expect(show(pieces, [0x41, 0xe2, 0x82, 0xac])).toBe("A|E2|82|AC=€");
});

test("parts that never become a character stay bytes, and do not spoil the next one", () => {
  expect(show(bytes, [0xe2, 0x82])).toBe("E2|82");
  expect(show(bytes, [0xe2, 0x61, 0x82, 0xac])).toBe("E2|a|82|AC");
  expect(show(bytes, [0x82, 0xc3, 0xa9])).toBe("82|C3|A9=é");
  expect(show(bytes, [0xff])).toBe("id 255");
});

test("a replacement character that was written is one", () => {
  expect(show(bytes, [0xef, 0xbf, 0xbd])).toBe("EF|BF|BD=\ufffd");
  expect(joinBytes([Uint8Array.of(0xef, 0xbf, 0xbd)])).toBe("\ufffd");
});

test("a control token is not the text that it is written like", () => {
  const { pieceOf } = createTokenTexts(bytes);
  expect(pieceOf(258)).toEqual({ type: "added", text: "<|im_end|>" });
  expect(show(bytes, [258])).toBe("&lt;|im_end|&gt;");
});

test("ids without an entry are shown as ids", () => {
  expect(show(bytes, [100_000, -1])).toBe("id 100000|id -1");
});

test("a word keeps the space before it", () => {
  expect(show(pieces, [258, 257, 258])).toBe(" a|a| a");
});
