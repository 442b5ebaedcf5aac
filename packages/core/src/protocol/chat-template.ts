/**
 * Renders conversations with a model's own Jinja template, as transformers' `apply_chat_template`.
 * In: template text, tool, extra variables, one fixed moment. Out: text, or one sentence of error.
 * A template is trusted code without a loop limit: never render one that you do not trust.
 */
import { Template } from "@huggingface/jinja";
import { strftime } from "./strftime.ts";

export type ChatMessage =
  | { readonly role: "system" | "user" | "assistant"; readonly content: string }
  | {
      readonly role: "tool";
      readonly tool_call_id: string;
      readonly name: string;
      readonly content: string;
    };

/** A function that the model may call, as the OpenAI API and the templates describe it. */
export type ToolDeclaration = {
  readonly type: "function";
  readonly function: {
    readonly name: string;
    readonly description: string;
    /** JSON Schema of the arguments. */
    readonly parameters: Readonly<Record<string, unknown>>;
  };
};

export type ChatTemplateOptions = {
  /** For messages to people. */
  readonly name: string;
  readonly text: string;
  /** null = no tool is declared. */
  readonly tool: ToolDeclaration | null;
  /** `bos_token` and so on, by name. */
  readonly specialTexts: Readonly<Record<string, string>>;
  /** Variables of this template, such as `enable_thinking`. */
  readonly kwargs: Readonly<Record<string, unknown>>;
  /** What `strftime_now` reads: milliseconds since 1970, written in UTC. */
  readonly now: number;
};

export type ChatTemplate = {
  readonly name: string;
  readonly text: string;
  /** Throws when the template does: many refuse roles or orders of roles. */
  render(messages: readonly ChatMessage[], addGenerationPrompt: boolean): string;
};

const FIX_CLOCK = "{% set strftime_now = fixed_strftime %}";

export function createChatTemplate(options: ChatTemplateOptions): ChatTemplate {
  const { name, text, tool, specialTexts, kwargs, now } = options;
  let template: Template;
  try {
    template = new Template(text);
  } catch (error) {
    throw new Error(
      `Chat template ${name} cannot be read: ${reasonOf(error)}; ` +
        "use a template in the Jinja that @huggingface/jinja 0.5 knows",
      { cause: error },
    );
  }
  // The library's own strftime_now reads the real clock and cannot be passed in: it is set inside.
  template.parsed.body.unshift(...new Template(FIX_CLOCK).parsed.body);
  const fixed = {
    ...specialTexts,
    ...(tool === null ? {} : { tools: [tool] }),
    ...kwargs,
    fixed_strftime: (format: string) => strftime(now, format),
  };
  return {
    name,
    text,
    render(messages, addGenerationPrompt) {
      try {
        return template.render({
          ...fixed,
          messages,
          add_generation_prompt: addGenerationPrompt,
        });
      } catch (error) {
        throw new Error(
          `Chat template ${name} refuses the conversation ` +
            `${messages.map((message) => message.role).join(", ")}: ${reasonOf(error)}`,
          { cause: error },
        );
      }
    },
  };
}

/** What the library or the template itself said, without a final period. */
function reasonOf(error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  return reason.replace(/\.$/, "");
}
