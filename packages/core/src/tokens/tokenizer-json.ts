/**
 * Reads the two files of a Hugging Face tokenizer, parsed to objects by the caller, into what the
 * rest of this room needs. Refuses what it does not know with one sentence; does no file I/O.
 */
import type { AddedToken } from "./added-tokens.ts";
import { refuse } from "./refuse.ts";
import { parseDecoderConfig, type TextForm } from "./text-form.ts";
import type { Vocabulary } from "./vocabulary.ts";

export type TokenizerFiles = {
  /** Content of `tokenizer.json`. */
  readonly tokenizer: unknown;
  /** Content of `tokenizer_config.json`; `{}` when there is none. */
  readonly config: unknown;
  /** Chat template from a file of its own; absent = the one in the config. */
  readonly chatTemplate?: string;
};

export type JsonObject = { readonly [key: string]: unknown };

export type TokenizerSpec = {
  readonly json: JsonObject;
  readonly config: JsonObject;
  readonly model: JsonObject;
  readonly modelType: string;
  /** Byte pairs that were packed; null = they, or pieces, are listed in `model`. */
  readonly packed: Vocabulary | null;
  readonly added: readonly AddedToken[];
  readonly textForm: TextForm;
  /** `bos_token`, `eos_token` …: the texts that a template may ask for, only those that are set. */
  readonly specialTexts: Readonly<Record<string, string>>;
  readonly chatTemplate: string | null;
};

const MODEL_TYPES = ["BPE", "Unigram"];
const SPECIAL_NAMES = [
  "bos_token",
  "eos_token",
  "unk_token",
  "sep_token",
  "pad_token",
  "cls_token",
  "mask_token",
];

/** `packed`: the vocabulary, where the content of `tokenizer.json` comes without its lists. */
export function readTokenizerFiles(
  files: TokenizerFiles,
  packed: Vocabulary | null = null,
): TokenizerSpec {
  const json = asObject(files.tokenizer);
  if (json === null) throw refuse("expected tokenizer.json to hold an object", files.tokenizer);
  const config = asObject(files.config);
  if (config === null)
    throw refuse("expected tokenizer_config.json to hold an object", files.config);
  const model = asObject(json["model"]);
  if (model === null) throw refuse('expected an object under "model"', json["model"]);
  const modelType = modelTypeOf(model);
  if (!MODEL_TYPES.includes(modelType)) {
    throw refuse(`expected a model of type ${MODEL_TYPES.join(", ")}`, modelType);
  }
  const textForm = parseDecoderConfig(json["decoder"] ?? null);
  if (typeof textForm === "string") throw refuse(textForm, json["decoder"] ?? null);

  const specialTexts = readSpecialTexts(config);
  const chatTemplate = files.chatTemplate ?? readChatTemplate(config["chat_template"]);
  const special = new Set([...Object.values(specialTexts), ...readSpecialLists(config)]);
  const inVocab =
    packed === null ? vocabTest(model) : (content: string) => packed.idOf(content) !== null;
  const added = readAddedTokens(json["added_tokens"] ?? [], (token) => {
    const isSpecial = token.special || special.has(token.content);
    const inTemplate =
      token.content.trim() !== "" && (chatTemplate?.includes(token.content) ?? false);
    return { isSpecial, isOrdinary: !isSpecial && !inTemplate && inVocab(token.content) };
  });
  return { json, config, model, modelType, packed, added, textForm, specialTexts, chatTemplate };
}

/** Older files do not name it. */
export function modelTypeOf(model: JsonObject): string {
  if (typeof model["type"] === "string") return model["type"];
  if (Array.isArray(model["vocab"])) return "Unigram";
  return Array.isArray(model["merges"]) ? "BPE" : "unknown";
}

function vocabTest(model: JsonObject): (content: string) => boolean {
  const vocab = model["vocab"];
  if (Array.isArray(vocab)) {
    const pieces = new Set(vocab.map((entry: unknown) => (Array.isArray(entry) ? entry[0] : null)));
    return (content) => pieces.has(content);
  }
  const entries = asObject(vocab);
  if (entries === null) throw refuse('expected a vocabulary under "model.vocab"', vocab);
  return (content) => Object.hasOwn(entries, content);
}

type RawAdded = Pick<AddedToken, "content" | "id"> & { readonly special: boolean };

function readAddedTokens(
  list: unknown,
  classify: (token: RawAdded) => Pick<AddedToken, "isSpecial" | "isOrdinary">,
): readonly AddedToken[] {
  if (!Array.isArray(list)) throw refuse('expected a list under "added_tokens"', list);
  return list.map((entry: unknown) => {
    const token = asObject(entry);
    const id = token?.["id"];
    const content = token?.["content"];
    if (token === null || typeof id !== "number" || !Number.isInteger(id) || id < 0) {
      throw refuse("expected every added token to have an id of 0 or more", entry);
    }
    if (typeof content !== "string" || content === "") {
      throw refuse("expected every added token to have a text", entry);
    }
    return {
      id,
      content,
      ...classify({ id, content, special: token["special"] === true }),
      lstrip: token["lstrip"] === true,
      rstrip: token["rstrip"] === true,
      singleWord: token["single_word"] === true,
    };
  });
}

function readSpecialTexts(config: JsonObject): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const name of SPECIAL_NAMES) {
    const text = tokenText(config[name]);
    if (text !== null) texts[name] = text;
  }
  return texts;
}

function readSpecialLists(config: JsonObject): readonly string[] {
  const lists = [config["additional_special_tokens"], config["extra_special_tokens"]];
  return lists
    .flatMap((list) => (Array.isArray(list) ? list : Object.values(asObject(list) ?? {})))
    .map(tokenText)
    .filter((text) => text !== null);
}

/** A token is written as its text or as an object that holds it. */
function tokenText(value: unknown): string | null {
  if (typeof value === "string") return value;
  const content = asObject(value)?.["content"];
  return typeof content === "string" ? content : null;
}

/** A config may hold several named templates: the one for tools is ours, else the default. */
function readChatTemplate(value: unknown): string | null {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return null;
  const named = value.map(asObject).filter((entry) => entry !== null);
  const chosen =
    named.find((entry) => entry["name"] === "tool_use") ??
    named.find((entry) => entry["name"] === "default");
  const template = chosen?.["template"];
  return typeof template === "string" ? template : null;
}

export function asObject(value: unknown): JsonObject | null {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : null;
}
