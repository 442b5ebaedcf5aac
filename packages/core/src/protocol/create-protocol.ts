/**
 * A model's language, put together: tokenizer, chat template, dialect, prompts.
 * Everything that does not depend on content is rendered and encoded here, once; a turn then costs
 * what its own text costs. Refuses at once a template that cannot be continued.
 */
import { strip } from "../tokens/python-whitespace.ts";
import type { Splice } from "../tokens/text-encoder.ts";
import type { Tokenizer } from "../tokens/tokenizer.ts";
import {
  createChatTemplate,
  type ChatMessage,
  type ChatTemplate,
  type ToolDeclaration,
} from "./chat-template.ts";
import { placeContent, transformContent, type ContentTransform } from "./content-placement.ts";
import { deriveContinuation, type ContinuationForm } from "./continuation.ts";
import type { Dialect } from "./dialects/dialect.ts";
import { DEFAULT_SYSTEM_PROMPT, DEFAULT_TOOL, NO_FRAME, type QuestionFrame } from "./prompts.ts";
import type { Protocol } from "./protocol.ts";

export type ProtocolOptions = {
  readonly tokenizer: Tokenizer;
  /** Text of the Jinja template. */
  readonly chatTemplate: string;
  readonly dialect: Dialect;
  /** The moment that templates read, in milliseconds since 1970 (UTC): fixed when the run starts. */
  readonly now: number;
  /** What messages to people call the template; default `of the model`. */
  readonly templateName?: string;
  /** Default: our own; null = no system message. */
  readonly systemPrompt?: string | null;
  /** Default: our own; null = no tool is declared and no observation can be joined. */
  readonly tool?: ToolDeclaration | null;
  /** Trusted text around the question; with one, the question is stripped. Default: none. */
  readonly questionFrame?: QuestionFrame;
  /** Variables of the template, over the default `enable_thinking: false`. */
  readonly templateKwargs?: Readonly<Record<string, unknown>>;
};

export function createProtocol(options: ProtocolOptions): Protocol {
  const { tokenizer, dialect } = options;
  const tool = options.tool === undefined ? DEFAULT_TOOL : options.tool;
  const system = options.systemPrompt === undefined ? DEFAULT_SYSTEM_PROMPT : options.systemPrompt;
  const frame = options.questionFrame ?? NO_FRAME;
  const template = createChatTemplate({
    name: options.templateName ?? "of the model",
    text: options.chatTemplate,
    tool,
    specialTexts: tokenizer.specialTexts,
    kwargs: { enable_thinking: false, ...options.templateKwargs },
    now: options.now,
  });

  const firstPrompt = prepareFirstPrompt(tokenizer, template, system, frame);
  const join = tool === null ? null : prepareJoin(tokenizer, template, system, frame, tool);
  const kept = new Set(dialect.markerTokens);
  const decoder = tokenizer.decoder(
    tokenizer.addedTokens
      .filter((token) => token.isSpecial && !kept.has(token.content))
      .map((token) => token.id),
  );

  return {
    firstPrompt,
    stopIds: tokenizer.eosIds,
    vocabSize: tokenizer.vocabSize,
    decodeTurn: (ids) => strip(decoder.decode(ids)),
    parse: (text) => dialect.parse(text),
    opensCall: (text) => dialect.callMarker !== "" && text.includes(dialect.callMarker),
    countPlain: (text) => tokenizer.countPlain(text),
    joinObservation(completion, content, toolStep) {
      if (join === null) throw new Error("No tool is declared, so there is no observation to join");
      return join(completion, content, toolStep);
    },
  };
}

function openingMessages(system: string | null, user: string): readonly ChatMessage[] {
  const question: ChatMessage = { role: "user", content: user };
  return system === null ? [question] : [{ role: "system", content: system }, question];
}

function prepareFirstPrompt(
  tokenizer: Tokenizer,
  template: ChatTemplate,
  system: string | null,
  frame: QuestionFrame,
): Protocol["firstPrompt"] {
  const isFramed = frame.before !== "" || frame.after !== "";
  const render = (question: string): string =>
    template.render(openingMessages(system, frame.before + question + frame.after), true);
  let word = "questionx";
  while ((template.text + render("")).includes(word)) word += "x";
  const placement = placeContent(render, word, !isFramed);
  if ("expected" in placement) {
    throw new Error(
      `Chat template ${template.name} cannot be used: expected the first prompt to show ` +
        `${placement.expected}, seen ${placement.seen}; use a template that writes user messages plainly`,
    );
  }
  const splice = tokenizer.splice(placement.before, placement.after, true);
  return (question) => {
    const text = isFramed ? strip(question) : question;
    return splice.encode(transformContent(placement.transform, text), 0);
  };
}

/** One continuation in ids. */
type JoinForm = {
  readonly closing: Int32Array;
  readonly transform: ContentTransform;
  /** Closing and observation. */
  readonly whole: Splice;
  /** The observation alone. */
  readonly open: Splice;
  /** The ids of `whole` begin with those of `closing`, whatever the content. */
  readonly startsWithClosing: boolean;
};

function prepareJoin(
  tokenizer: Tokenizer,
  template: ChatTemplate,
  system: string | null,
  frame: QuestionFrame,
  tool: ToolDeclaration,
): Protocol["joinObservation"] {
  const opening = openingMessages(system, `${frame.before}question${frame.after}`);
  const continuation = deriveContinuation(template, opening, tool.function.name);
  const first = prepareForm(tokenizer, continuation.first);
  const later = prepareForm(tokenizer, continuation.later);
  return (completion, content, toolStep) =>
    joinForm(toolStep === 0 ? first : later, completion, content);
}

function prepareForm(tokenizer: Tokenizer, form: ContinuationForm): JoinForm {
  const { closing, before, after, transform } = form;
  const whole = tokenizer.splice(closing + before, after, false);
  const closingIds = tokenizer.encodePieces([{ trusted: true, text: closing }], false);
  return {
    closing: closingIds,
    transform,
    whole,
    open: tokenizer.splice(before, after, false),
    startsWithClosing: closingIds.every((id, i) => whole.head[i] === id),
  };
}

function joinForm(form: JoinForm, completion: Int32Array, content: string): Int32Array {
  const shown = transformContent(form.transform, content);
  const present = overlap(completion, form.closing);
  if (present === 0 || form.startsWithClosing) return form.whole.encode(shown, present);
  // The closing and the observation share a plain run, and the completion has ended within it.
  const rest = form.closing.subarray(present);
  const observation = form.open.encode(shown, 0);
  const delta = new Int32Array(rest.length + observation.length);
  delta.set(rest, 0);
  delta.set(observation, rest.length);
  return delta;
}

/** Length of the longest suffix of `completion` that is a prefix of `closing`. */
function overlap(completion: Int32Array, closing: Int32Array): number {
  for (let length = Math.min(completion.length, closing.length); length > 0; length--) {
    const start = completion.length - length;
    let same = 0;
    while (same < length && completion[start + same] === closing[same]) same++;
    if (same === length) return length;
  }
  return 0;
}
