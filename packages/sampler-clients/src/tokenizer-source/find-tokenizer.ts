/**
 * From what a person names as `--tokenizer` to a folder on this machine. In: a folder, or a hub name with or without a
 * revision. Out: the folder, complete; a hub's files are downloaded once per revision and kept. Refuses to read what
 * is in the files, but for the number of rows.
 */
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openHub, type Hub } from "./hub.ts";

export type FoundTokenizer = {
  readonly folder: string;
  /** Commit of the hub's repository; null = a folder of the person's own. */
  readonly revision: string | null;
};

export type FindTokenizerOptions = {
  /** Where downloads are kept. */
  readonly cacheDir?: string;
  /** Base URL of the hub. */
  readonly endpoint?: string;
  /** For private repositories; null = none. */
  readonly token?: string | null;
  readonly signal?: AbortSignal;
  readonly onDownload?: (file: string) => void;
};

/** Downloaded where they exist; the first one must. */
const FILES = [
  "tokenizer.json",
  "tokenizer_config.json",
  "config.json",
  "chat_template.jinja",
  "generation_config.json",
];

/** `org/name`, `org/name@revision`; a revision is a branch, a tag or a commit. */
const HUB_NAME = /^([\w.-]+\/[\w.-]+)(?:@([\w./-]+))?$/;

/** Rejects with one sentence for a person. */
export async function findTokenizer(
  name: string,
  options: FindTokenizerOptions = {},
): Promise<FoundTokenizer> {
  if (await isFolder(name)) return { folder: name, revision: null };
  const found = HUB_NAME.exec(name);
  if (found === null) {
    throw new Error(
      `Expected --tokenizer to be a folder or a hub name like org/name@revision, got ${name}: there is no such folder`,
    );
  }
  const [, repository, asked = "main"] = found as unknown as [string, string, string?];
  const hub = openHub({
    endpoint: options.endpoint ?? process.env["HF_ENDPOINT"] ?? "https://huggingface.co",
    token: options.token === undefined ? (process.env["HF_TOKEN"] ?? null) : options.token,
    signal: options.signal ?? new AbortController().signal,
  });
  const cache = join(
    options.cacheDir ?? join(".interlace", "tokenizers"),
    repository.replace("/", "--"),
  );
  const kept = await readKept(cache, asked);
  if (kept !== null) return kept;
  return download(hub, repository, asked, cache, options.onDownload ?? (() => {}));
}

/** What was asked for once is not asked for again: a moved branch does not change a run's tokenizer behind its back. */
async function readKept(cache: string, asked: string): Promise<FoundTokenizer | null> {
  const revision = await readFile(refFile(cache, asked), "utf8").catch(() => asked);
  const folder = join(cache, revision);
  return (await isFile(join(folder, "tokenizer.json"))) ? { folder, revision } : null;
}

function refFile(cache: string, asked: string): string {
  return join(cache, "refs", encodeURIComponent(asked));
}

async function download(
  hub: Hub,
  repository: string,
  asked: string,
  cache: string,
  onDownload: (file: string) => void,
): Promise<FoundTokenizer> {
  const revision = await hub.resolve(repository, asked);
  const folder = join(cache, revision);
  // Complete or not there: another process never sees half a tokenizer.
  const partial = `${folder}.${process.pid}.part`;
  await mkdir(partial, { recursive: true });
  try {
    for (const file of FILES) {
      const bytes = await hub.read(repository, revision, file);
      if (bytes === null && file === FILES[0]) {
        throw new Error(
          `${repository} at ${asked} has no tokenizer.json: only tokenizers in that format are read`,
        );
      }
      if (bytes === null) continue;
      onDownload(file);
      await writeFile(join(partial, file), bytes);
    }
    await rename(partial, folder).catch(async (error: unknown) => {
      // Another process was quicker: its files are the same ones.
      if (!(await isFile(join(folder, "tokenizer.json")))) throw error;
    });
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
  await mkdir(join(cache, "refs"), { recursive: true });
  await writeFile(refFile(cache, asked), revision);
  return { folder, revision };
}

/** Rows of the model's output as its `config.json` tells them; null = there is no such file or number. */
export async function readModelRows(folder: string): Promise<number | null> {
  const file = join(folder, "config.json");
  if (!(await isFile(file))) return null;
  const config = JSON.parse(await readFile(file, "utf8")) as {
    vocab_size?: unknown;
    text_config?: { vocab_size?: unknown };
  };
  const rows = config.vocab_size ?? config.text_config?.vocab_size;
  return typeof rows === "number" ? rows : null;
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}
