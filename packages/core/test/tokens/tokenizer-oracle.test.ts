/**
 * Ids and text equal those of the Rust `tokenizers`, for whole texts, plain texts and any ids:
 * real tokenizers of four families, the byte tokenizer of the vectors, the shipped tiny policy.
 */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import * as fc from "fast-check";
import { Tokenizer as RustTokenizer } from "tokenizers";
import { loadFolder, loadPackedFolder } from "../support/real-tokenizers.ts";

const FOLDERS = ["byte", "policy", "qwen2_5", "qwen3", "llama3_1", "deepseek_v3"];
const FORMS = { listed: loadFolder, packed: loadPackedFolder };
const CASES = FOLDERS.flatMap((name) =>
  Object.entries(FORMS).map(([form, open]) => [name, form, open] as const),
);

/** Pieces that meet every branch of the split patterns, and look-alikes of control tokens. */
const PIECES = [
  ..."ab 1\n\t\r_.-{}\"'\\/",
  "the ",
  " Hello",
  "  ",
  "    ",
  "\n\n",
  "\r\n",
  "'ll",
  "'RE",
  "4567",
  "0.5",
  "e\u0301",
  "中文",
  "한국",
  "العربية",
  "🙂",
  "👩‍👩‍👧",
  "\u00a0",
  "\u2028",
  "\ufeff",
  "\u200b",
  "\u0000",
  "ſ",
  "½",
  "₂",
  "�",
  "<|im_end|>",
  "<|im_start|>",
  "<|eot_id|>",
  "<tool_call>",
  "</think>",
  "<｜User｜>",
  "<|",
  "|>",
  "print(",
  "import numpy as np\n",
];
const text = fc.string({ unit: fc.constantFrom(...PIECES), maxLength: 24 });

/** Loading a real tokenizer twice into Rust and once here takes seconds on a busy machine. */
setDefaultTimeout(60_000);

describe.each(CASES)("%s, %s", (name, _form, open) => {
  const load = async () => {
    const folder = await open(name);
    const json = JSON.parse(folder.text) as Record<string, unknown>;
    return {
      ...folder,
      rust: RustTokenizer.fromString(folder.text),
      plain: RustTokenizer.fromString(JSON.stringify({ ...json, added_tokens: [] })),
      special: (json["added_tokens"] as { id: number; special: boolean }[])
        .filter((token) => token.special)
        .map((token) => token.id),
    };
  };
  let loading: ReturnType<typeof load> | null = null;
  const once = (): ReturnType<typeof load> => (loading ??= load());
  const encode = async (rust: RustTokenizer, input: string): Promise<number[]> =>
    (await rust.encode(input, null, { addSpecialTokens: false })).getIds();

  test("trusted text: added tokens are recognised as Rust does", async () => {
    const { tokenizer, rust } = await once();
    await fc.assert(
      fc.asyncProperty(text, async (input) => {
        expect(Array.from(tokenizer.encode(input))).toEqual(await encode(rust, input));
      }),
      { numRuns: 200 },
    );
  });

  test("plain text: as Rust does without any added token, and counted alike", async () => {
    const { tokenizer, plain } = await once();
    await fc.assert(
      fc.asyncProperty(text, async (input) => {
        const ids = await encode(plain, input);
        expect(Array.from(tokenizer.encodePlain(input))).toEqual(ids);
        expect(tokenizer.countPlain(input)).toBe(ids.length);
      }),
      { numRuns: 200 },
    );
  });

  test("one word of thirty thousand letters is merged as Rust does", async () => {
    const { tokenizer, plain } = await once();
    let state = 1;
    const word = Array.from({ length: 30_000 }, () => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return String.fromCharCode(97 + ((state >>> 16) % 26));
    }).join("");
    expect(Array.from(tokenizer.encodePlain(word))).toEqual(await encode(plain, word));
    const blanks = `${" ".repeat(20_000)}${"=".repeat(5_000)}${"a".repeat(5_000)}`;
    expect(Array.from(tokenizer.encodePlain(blanks))).toEqual(await encode(plain, blanks));
  });

  test("any ids: text as Rust decodes it, special tokens kept or left out", async () => {
    const { tokenizer, rust, special } = await once();
    const added = tokenizer.addedTokens.map((token) => token.id);
    const id = fc.oneof(
      fc.integer({ min: 0, max: Math.min(300, tokenizer.vocabSize) - 1 }),
      fc.integer({ min: 0, max: tokenizer.vocabSize - 1 }),
      fc.constantFrom(...added),
    );
    const all = tokenizer.decoder([]);
    const withoutSpecial = tokenizer.decoder(special);
    await fc.assert(
      fc.asyncProperty(fc.array(id, { maxLength: 40 }), async (ids) => {
        expect(all.decode(ids)).toBe(await rust.decode(ids, false));
        const skipped = await rust.decode(ids, true);
        expect(withoutSpecial.decode(ids)).toBe(skipped);
        expect(tokenizer.decode(Int32Array.from(ids))).toBe(skipped);
      }),
      { numRuns: 300 },
    );
  });

  test("thirty thousand ids, and few behind them", async () => {
    const { tokenizer, rust } = await once();
    let state = 7;
    const ids = Array.from({ length: 30_000 }, () => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      // Every fourth is among the single bytes.
      return (
        (state >>> 8) % (state % 64 < 16 ? Math.min(256, tokenizer.vocabSize) : tokenizer.vocabSize)
      );
    });
    const all = tokenizer.decoder([]);
    expect(all.decode(ids) === (await rust.decode(ids, false))).toBe(true);
    expect(all.decode(ids.slice(0, 5))).toBe(await rust.decode(ids.slice(0, 5), false));
  });

  test("what a stream has emitted is never taken back", async () => {
    const { tokenizer } = await once();
    const id = fc.integer({ min: 0, max: Math.min(400, tokenizer.vocabSize) - 1 });
    const all = tokenizer.decoder([]);
    fc.assert(
      fc.property(fc.array(fc.array(id, { maxLength: 4 }), { maxLength: 12 }), (chunks) => {
        const whole = all.decode(chunks.flat());
        const stream = all.stream();
        let emitted = "";
        for (const chunk of chunks) {
          emitted += stream.push(chunk);
          expect(whole.startsWith(emitted)).toBe(true);
        }
        expect(emitted + stream.end()).toBe(whole);
      }),
      { numRuns: 300 },
    );
  });
});
