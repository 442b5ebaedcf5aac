/** In: a mode and the model's language. Out: the protocol that is evaluated, and hashes of what it tells the model. */
import {
  canonicalJson,
  createProtocol,
  sha256Hex,
  TEXT_ONLY_FRAME,
  textOnly,
  type Protocol,
} from "@interlace/core";
import type { Config } from "../config/schema.ts";
import type { Language } from "../rollout/open-language.ts";

/**
 * What a template that asks for the date is told, whatever the day: an evaluation of another day, or one that goes on
 * after midnight, must ask with the same prompts.
 */
export const EVAL_CLOCK = Date.UTC(2026, 0, 1);

export type EvalProtocol = {
  readonly protocol: Protocol;
  readonly hashes: Readonly<Record<string, string>>;
};

export async function evalProtocol(config: Config, language: Language): Promise<EvalProtocol> {
  if (config.eval.mode === "retool")
    return { protocol: language.protocol, hashes: language.hashes };
  const { tokenizer, hashes } = language;
  const { chatTemplate } = tokenizer;
  if (chatTemplate === null) throw new Error("Expected a language with a chat template");
  const protocol = createProtocol({
    tokenizer,
    chatTemplate,
    dialect: textOnly,
    now: EVAL_CLOCK,
    systemPrompt: null,
    tool: null,
    questionFrame: TEXT_ONLY_FRAME,
    templateKwargs: config.protocol.templateArguments,
  });
  const frame = await sha256Hex(canonicalJson(TEXT_ONLY_FRAME));
  return {
    protocol,
    hashes: {
      tokenizer: hashes.tokenizer,
      chatTemplate: hashes.chatTemplate,
      questionFrame: frame,
    },
  };
}
