import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findTokenizer, readModelRows } from "../../src/tokenizer-source/find-tokenizer.ts";

const SHA = "0123456789abcdef0123456789abcdef01234567";
const FILES: Readonly<Record<string, string>> = {
  "tokenizer.json": '{"model":{}}',
  "config.json": '{"vocab_size":576}',
};
const asked: string[] = [];
const keys: (string | null)[] = [];
let hub: ReturnType<typeof Bun.serve>;
let endpoint: string;

beforeAll(() => {
  hub = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => {
      const { pathname } = new URL(request.url);
      asked.push(pathname);
      keys.push(request.headers.get("authorization"));
      if (pathname.startsWith("/api/models/org/gated/")) return new Response("", { status: 403 });
      if (pathname.startsWith("/api/models/org/none/")) return new Response("", { status: 404 });
      if (pathname.startsWith("/api/models/")) return Response.json({ sha: SHA });
      const file = pathname.split("/").at(-1)!;
      if (pathname.startsWith("/org/bare/")) return new Response("", { status: 404 });
      const text = FILES[file];
      return text === undefined ? new Response("", { status: 404 }) : new Response(text);
    },
  });
  endpoint = `http://127.0.0.1:${hub.port}`;
});
afterAll(() => hub.stop(true));

const fresh = (): string => mkdtempSync(join(tmpdir(), "interlace-tokenizer-"));

test("a folder is taken as it is", async () => {
  const folder = fresh();
  expect(await findTokenizer(folder)).toEqual({ folder, revision: null });
});

test("a hub name is downloaded once, by commit, and then found without a network", async () => {
  const cacheDir = fresh();
  const downloaded: string[] = [];
  const options = {
    cacheDir,
    endpoint,
    token: "t",
    onDownload: (file: string) => downloaded.push(file),
  };
  const found = await findTokenizer("org/name", options);
  expect(found).toEqual({ folder: join(cacheDir, "org--name", SHA), revision: SHA });
  expect(downloaded).toEqual(["tokenizer.json", "config.json"]);
  expect(readdirSync(found.folder).toSorted()).toEqual(["config.json", "tokenizer.json"]);
  expect(keys.at(-1)).toBe("Bearer t");
  expect(await readModelRows(found.folder)).toBe(576);
  const before = asked.length;
  const offline = { cacheDir, endpoint: "http://127.0.0.1:1" };
  expect(await findTokenizer("org/name", offline)).toEqual(found);
  expect(await findTokenizer(`org/name@${SHA}`, offline)).toEqual(found);
  expect(asked.length).toBe(before);
  expect(readdirSync(join(cacheDir, "org--name")).toSorted()).toEqual([SHA, "refs"]);
});

test("another revision is asked for by its name", async () => {
  await findTokenizer("org/name@v1.0", { cacheDir: fresh(), endpoint });
  expect(asked).toContain("/api/models/org/name/revision/v1.0");
});

const ERRORS: readonly (readonly [string, string])[] = [
  [
    "./no-such-folder/at/all",
    "Expected --tokenizer to be a folder or a hub name like org/name@revision",
  ],
  ["org/none", "knows no org/none at revision main: check the name"],
  ["org/gated", "answered 403 for org/gated@main; set HF_TOKEN"],
  ["org/bare", "org/bare at main has no tokenizer.json"],
];
for (const [name, message] of ERRORS) {
  test(`${name}: ${message}`, async () => {
    const cacheDir = fresh();
    expect(findTokenizer(name, { cacheDir, endpoint, token: null })).rejects.toThrow(message);
  });
}

test("without a network the error says what to do", async () => {
  const options = { cacheDir: fresh(), endpoint: "http://127.0.0.1:1" };
  expect(findTokenizer("org/name", options)).rejects.toThrow(
    "pass a folder with tokenizer.json as --tokenizer, or go online once",
  );
});

test("rows are read where config.json tells them", async () => {
  const folder = fresh();
  expect(await readModelRows(folder)).toBeNull();
  writeFileSync(join(folder, "config.json"), '{"text_config":{"vocab_size":1000}}');
  expect(await readModelRows(folder)).toBe(1000);
});
