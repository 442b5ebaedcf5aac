/**
 * In: a folder as Hugging Face lays it out. Out: the files of its tokenizer, or the tokenizer itself. A large one is
 * kept packed under the SHA-256 of its `tokenizer.json`, so that the next start neither parses nor hashes its lists.
 * Refuses to believe a packed one that is not whole; without one everything works, slower.
 */
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  loadPackedTokenizer,
  loadTokenizer,
  packTokenizer,
  type Tokenizer,
  type TokenizerFiles,
} from "@interlace/core";
import { messageOf, wrongUse } from "../person-error.ts";

export type Keep = {
  readonly folder: string;
  /** Smaller files are parsed faster than a second one is read. */
  readonly fromBytes: number;
};

/** Beside the checkout's other set-up. */
const KEEP: Keep = {
  folder: fileURLToPath(new URL("../../../../.interlace/packed-tokenizers", import.meta.url)),
  fromBytes: 1_000_000,
};
const TOKENIZER = "tokenizer.json";
/** Of the hash at a packed file's end. */
const CHECK_BYTES = 8;

/** Throws a PersonError on files that cannot be read; what it gives throws on those that cannot be used. */
export async function readTokenizer(
  folder: string,
  keep: Keep = KEEP,
): Promise<() => Promise<Tokenizer>> {
  const file = join(folder, TOKENIZER);
  const bytes = await readBytes(file);
  const path = bytes.length < keep.fromBytes ? null : join(keep.folder, sha256(bytes));
  const packed = path === null ? null : await readPacked(path);
  const rest = await readRest(folder);
  const listed = () => listedTokenizer({ tokenizer: parseJson(file, bytes), ...rest }, path);
  if (packed === null) return listed();
  return async () => loadPackedTokenizer(packed, rest) ?? (await listed()());
}

/** `path`: where it is to be kept; null = it is not worth it. */
function listedTokenizer(files: TokenizerFiles, path: string | null): () => Promise<Tokenizer> {
  return async () => {
    const tokenizer = loadTokenizer(files);
    if (path === null) return tokenizer;
    const fingerprint = await tokenizer.fingerprint();
    await writePacked(path, packTokenizer(files.tokenizer, fingerprint));
    return { ...tokenizer, fingerprint: () => Promise.resolve(fingerprint) };
  };
}

/** Throws a PersonError on files that cannot be read. */
export async function readTokenizerFolder(folder: string): Promise<TokenizerFiles> {
  const tokenizer = await readJson(join(folder, TOKENIZER));
  return { tokenizer, ...(await readRest(folder)) };
}

async function readRest(folder: string): Promise<Omit<TokenizerFiles, "tokenizer">> {
  const configFile = join(folder, "tokenizer_config.json");
  const config = (await Bun.file(configFile).exists()) ? await readJson(configFile) : {};
  const template = Bun.file(join(folder, "chat_template.jinja"));
  if (!(await template.exists())) return { config };
  return { config, chatTemplate: await template.text() };
}

async function readJson(path: string): Promise<unknown> {
  return parseJson(path, await readBytes(path));
}

async function readBytes(path: string): Promise<Uint8Array> {
  try {
    return await Bun.file(path).bytes();
  } catch (error) {
    throw unreadable(path, error);
  }
}

function parseJson(path: string, bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as unknown;
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): Error {
  return wrongUse(
    `Cannot read ${path}: ${messageOf(error)}; expected a tokenizer folder as Hugging Face lays it out`,
    error,
  );
}

/** null = there is none, or it is not whole. */
async function readPacked(path: string): Promise<Uint8Array | null> {
  try {
    const bytes = await Bun.file(path).bytes();
    const packed = bytes.subarray(0, -CHECK_BYTES);
    return checkOf(packed).equals(bytes.subarray(packed.length)) ? packed : null;
  } catch {
    return null;
  }
}

/** `packed` null = of a kind that is not packed. Where it cannot be kept, the next start is as slow as this one. */
async function writePacked(path: string, packed: Uint8Array | null): Promise<void> {
  if (packed === null) return;
  const { writeAtomic } = await import("@interlace/train-bridge");
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeAtomic(path, [[packed, checkOf(packed)]]);
  } catch {
    // No message: nothing is wrong with the run.
  }
}

function checkOf(bytes: Uint8Array): Buffer {
  const check = Buffer.alloc(CHECK_BYTES);
  check.writeBigUInt64LE(Bun.hash.xxHash3(bytes));
  return check;
}

function sha256(bytes: Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
}
