/** A tokenizer that is kept packed is never another one than its folder holds, and never in the way. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson, loadTokenizer, sha256Hex, type TokenizerFiles } from "@interlace/core";
import { embeddedPolicyFolder } from "@interlace/sampler-clients";
import { readTokenizer, readTokenizerFolder } from "../../src/rollout/tokenizer-folder.ts";
import { newFolder } from "../support/cli.ts";

let folder = "";
beforeAll(() => {
  folder = newFolder();
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The policy's tokenizer in a folder of its own, and a place where it is kept. */
function place(): { readonly own: string; readonly keep: { folder: string; fromBytes: number } } {
  const own = join(folder, crypto.randomUUID());
  cpSync(embeddedPolicyFolder, own, { recursive: true });
  return { own, keep: { folder: join(own, "kept"), fromBytes: 1 } };
}

const load = async (...args: Parameters<typeof readTokenizer>) => (await readTokenizer(...args))();
const only = (kept: string): string => join(kept, readdirSync(kept).join());
const TEXT = "What is 12 + 34? <tool_call>\n";

/** As run records were named before anything was kept. */
async function plainFingerprint(own: string): Promise<string> {
  const { tokenizer } = (await readTokenizerFolder(own)) as { tokenizer: TokenizerJson };
  const { model, added_tokens, normalizer, pre_tokenizer, decoder } = tokenizer;
  return sha256Hex(canonicalJson({ model, added_tokens, normalizer, pre_tokenizer, decoder }));
}
type TokenizerJson = Readonly<Record<string, unknown>>;

test("the second time it is read from where it is kept, and is the same", async () => {
  const { own, keep } = place();
  const listed = loadTokenizer(await readTokenizerFolder(own));
  const first = await load(own, keep);
  const second = await load(own, keep);
  for (const tokenizer of [first, second]) {
    expect(await tokenizer.fingerprint()).toBe(await plainFingerprint(own));
    expect(tokenizer.encode(TEXT)).toEqual(listed.encode(TEXT));
    expect(tokenizer.chatTemplate).toBe(listed.chatTemplate);
  }
  // Evidence that it is read at all: another one in its place is what comes out.
  const other = place();
  changeEntry(other.own);
  await load(other.own, other.keep);
  cpSync(only(other.keep.folder), only(keep.folder));
  const swapped = await load(own, keep);
  expect(await swapped.fingerprint()).toBe(await plainFingerprint(other.own));
});

/** Two entries change places. */
function changeEntry(own: string): void {
  const path = join(own, "tokenizer.json");
  const json = JSON.parse(readFileSync(path, "utf8")) as {
    model: { vocab: Record<string, number>; merges: unknown[] };
  };
  const { vocab } = json.model;
  [vocab["a"], vocab["b"]] = [vocab["b"] as number, vocab["a"] as number];
  writeFileSync(path, JSON.stringify(json));
}

test("a file that has changed is another tokenizer, whatever is kept", async () => {
  const { own, keep } = place();
  const before = await load(own, keep);
  changeEntry(own);
  const after = await load(own, keep);
  expect(await after.fingerprint()).not.toBe(await before.fingerprint());
  expect(after.idOf("a")).toBe(before.idOf("b"));
  expect(readdirSync(keep.folder)).toHaveLength(2);
});

test("config and template are read anew each time", async () => {
  const { own, keep } = place();
  await load(own, keep);
  writeFileSync(join(own, "chat_template.jinja"), "new");
  writeFileSync(join(own, "tokenizer_config.json"), '{"pad_token":"<|im_end|>"}');
  const tokenizer = await load(own, keep);
  expect(tokenizer.chatTemplate).toBe("new");
  expect(tokenizer.specialTexts).toEqual({ pad_token: "<|im_end|>" });
});

describe("what is kept but not whole is made again", () => {
  test.each<[string, (bytes: Uint8Array) => Uint8Array]>([
    ["one bit", (bytes) => bytes.with(bytes.length >> 1, (bytes.at(bytes.length >> 1) ?? 0) ^ 1)],
    ["cut off", (bytes) => bytes.slice(0, -100)],
    ["empty", () => new Uint8Array()],
    ["longer", (bytes) => Uint8Array.from([...bytes, 0, 0, 0, 0])],
  ])("%s", async (_name, damage) => {
    const { own, keep } = place();
    const first = await load(own, keep);
    const path = only(keep.folder);
    const whole = new Uint8Array(readFileSync(path));
    writeFileSync(path, damage(whole));
    const second = await load(own, keep);
    expect(await second.fingerprint()).toBe(await first.fingerprint());
    expect(second.encode(TEXT)).toEqual(first.encode(TEXT));
    expect(new Uint8Array(readFileSync(path))).toEqual(whole);
  });
});

test("of another version it is made again", async () => {
  const { own, keep } = place();
  await load(own, keep);
  const path = only(keep.folder);
  const whole = readFileSync(path);
  const other = Buffer.from(whole);
  other[0] = 99;
  other.writeBigUInt64LE(Bun.hash.xxHash3(other.subarray(0, -8)), other.length - 8);
  writeFileSync(path, other);
  const tokenizer = await load(own, keep);
  expect(await tokenizer.fingerprint()).toBe(await plainFingerprint(own));
  expect(readFileSync(path)).toEqual(whole);
});

test("where nothing can be kept, and where it is not worth it, it is read from its lists", async () => {
  const { own, keep } = place();
  writeFileSync(keep.folder, "no folder");
  expect((await load(own, keep)).encode(TEXT).length).toBeGreaterThan(5);
  const small = place();
  await load(small.own, { ...small.keep, fromBytes: 1_000_000 });
  expect(readdirSync(small.own)).not.toContain("kept");
});

test("a kind that is not packed is read from its lists each time", async () => {
  const { own, keep } = place();
  const unigram: TokenizerFiles["tokenizer"] = {
    added_tokens: [],
    normalizer: null,
    pre_tokenizer: { type: "Metaspace", replacement: "▁", prepend_scheme: "always" },
    decoder: { type: "Metaspace", replacement: "▁", prepend_scheme: "always" },
    model: {
      type: "Unigram",
      unk_id: 0,
      vocab: [
        ["<unk>", 0],
        ["▁a", -1],
        ["b", -2],
      ],
    },
  };
  writeFileSync(join(own, "tokenizer.json"), JSON.stringify(unigram));
  writeFileSync(join(own, "tokenizer_config.json"), "{}");
  for (let i = 0; i < 2; i++) {
    expect(Array.from((await load(own, keep)).encode("ab"))).toEqual([1, 2]);
  }
  expect(readdirSync(own)).not.toContain("kept");
});

test("what cannot be read is told as without anything kept", async () => {
  const { own, keep } = place();
  await load(own, keep);
  writeFileSync(join(own, "tokenizer_config.json"), "{");
  const told = `Cannot read ${join(own, "tokenizer_config.json")}: `;
  expect(await readTokenizer(own, keep).catch(String)).toContain(told);
  rmSync(join(own, "tokenizer.json"));
  expect(await readTokenizer(own, keep).catch(String)).toContain(
    `Cannot read ${join(own, "tokenizer.json")}: `,
  );
  mkdirSync(join(own, "tokenizer.json"));
  expect(await readTokenizer(own, keep).catch(String)).toContain("Cannot read ");
});
