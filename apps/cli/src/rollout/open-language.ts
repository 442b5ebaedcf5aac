/**
 * In: a folder with a model's tokenizer and chat template, and the prompts. Out: the protocol that a rollout speaks,
 * and the names and hashes by which others can tell it apart.
 */
import {
  createProtocol,
  DEFAULT_SYSTEM_PROMPT,
  DEFAULT_TOOL,
  qwen3Coder,
  canonicalJson,
  sha256Hex,
  type MathExample,
  type Protocol,
  type Tokenizer,
  type ToolDeclaration,
} from "@interlace/core";
import type { MessageRow } from "@interlace/train-bridge";
import type { Config } from "../config/schema.ts";
import { messageOf, wrongUse } from "../person-error.ts";
import type { TokenizerSource } from "./open-tokenizer.ts";
import { readTokenizer } from "./tokenizer-folder.ts";

export type Language = {
  readonly protocol: Protocol;
  readonly tokenizer: Tokenizer;
  readonly tokenizerId: string;
  readonly hashes: {
    readonly tokenizer: string;
    readonly chatTemplate: string;
    readonly systemPrompt: string;
    readonly tool: string;
  };
  readonly firstMessages: (problem: MathExample) => readonly MessageRow[];
  readonly warnings: readonly string[];
};

/** `now`: the moment that templates read, in milliseconds since 1970. */
export async function openLanguage(
  config: Config,
  { folder, id }: Pick<TokenizerSource, "folder" | "id">,
  now: number,
): Promise<Language> {
  const load = await readTokenizer(folder);
  const systemPrompt = await chooseSystemPrompt(config);
  const tool = await chooseTool(config);
  try {
    const tokenizer = await load();
    if (tokenizer.chatTemplate === null) {
      throw new Error("it has no chat template: put a chat_template.jinja into the folder");
    }
    const protocol = createProtocol({
      tokenizer,
      chatTemplate: tokenizer.chatTemplate,
      templateName: `of ${folder}`,
      dialect: qwen3Coder,
      now,
      systemPrompt,
      tool,
      templateKwargs: config.protocol.templateArguments,
    });
    return {
      protocol,
      tokenizer,
      tokenizerId: id,
      hashes: {
        tokenizer: await tokenizer.fingerprint(),
        chatTemplate: await sha256Hex(tokenizer.chatTemplate),
        systemPrompt: await sha256Hex(systemPrompt),
        tool: await sha256Hex(canonicalJson(tool)),
      },
      firstMessages: ({ question }) => [
        { role: "system", content: systemPrompt },
        { role: "user", content: question },
      ],
      warnings:
        protocol.stopIds.length > 0
          ? []
          : ["The tokenizer names no end-of-turn token: every turn runs to its token limit"],
    };
  } catch (error) {
    throw wrongUse(`Cannot use the tokenizer in ${folder}: ${messageOf(error)}`, error);
  }
}

export async function chooseSystemPrompt({ protocol }: Config): Promise<string> {
  if (protocol.systemPromptFile !== null) return readText(protocol.systemPromptFile);
  return protocol.systemPrompt ?? DEFAULT_SYSTEM_PROMPT;
}

export async function chooseTool({ protocol }: Config): Promise<ToolDeclaration> {
  if (protocol.toolDescriptionFile === null) return DEFAULT_TOOL;
  const description = (await readText(protocol.toolDescriptionFile)).trim();
  return { ...DEFAULT_TOOL, function: { ...DEFAULT_TOOL.function, description } };
}

/** One line break at the end belongs to the file, not to the text. */
async function readText(path: string): Promise<string> {
  try {
    return (await Bun.file(path).text()).replace(/\n$/, "");
  } catch (error) {
    throw wrongUse(`Cannot read ${path}: ${messageOf(error)}`, error);
  }
}
