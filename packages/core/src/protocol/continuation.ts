/**
 * How a conversation goes on after an assistant turn, without rendering history again
 * (rollout.md §5). In: a template and the first messages. Out: the text that closes a turn and the
 * text around an observation, for the first tool step and for later ones. Only the text after the
 * last assistant placeholder is used, so what was sampled can never move the boundary.
 */
import type { ChatMessage, ChatTemplate } from "./chat-template.ts";
import { excerpt, firstDifference, placeContent, type Placement } from "./content-placement.ts";

export type ContinuationForm = Placement & {
  /** What follows the assistant's text when the conversation ends there. */
  readonly closing: string;
};

export type Continuation = {
  readonly first: ContinuationForm;
  readonly later: ContinuationForm;
  /** The template writes something else before an assistant's text once a tool message follows. */
  readonly rewritesHistory: boolean;
};

/** Throws where the template cannot be continued, with the message and the first difference. */
export function deriveContinuation(
  template: ChatTemplate,
  opening: readonly ChatMessage[],
  toolName: string,
): Continuation {
  const word = unusedWord(template.text + template.render(opening, true));
  const first = deriveForm(template, opening, toolName, word, 1);
  const second = deriveForm(template, opening, toolName, word, 2);
  const third = deriveForm(template, opening, toolName, word, 3);
  const [left, right] = [describe(second.form), describe(third.form)];
  if (left !== right) {
    throw refuse(
      template,
      "tool message 3",
      "the text around it to be that of tool message 2",
      firstDifference(left, right),
    );
  }
  const rewritesHistory = [first, second, third].some((step) => step.rewritesHistory);
  return { first: first.form, later: third.form, rewritesHistory };
}

type Step = { readonly form: ContinuationForm; readonly rewritesHistory: boolean };

function deriveForm(
  template: ChatTemplate,
  opening: readonly ChatMessage[],
  toolName: string,
  word: string,
  exchanges: number,
): Step {
  const place = `tool message ${exchanges}`;
  // One id for every call: a template that shows it (Kimi K2, Mistral) shows this one, in all steps.
  // Mistral's insist on nine letters and digits.
  const tool = (content: string): ChatMessage => ({
    role: "tool",
    tool_call_id: "call00001",
    name: toolName,
    content,
  });
  const messages: ChatMessage[] = [...opening];
  for (let i = 1; i < exchanges; i++) {
    messages.push({ role: "assistant", content: `${word}a${i}` }, tool(`${word}t${i}`));
  }
  const spoken = `${word}a${exchanges}`;
  messages.push({ role: "assistant", content: spoken });

  const render = (more: readonly ChatMessage[], prompt: boolean): string => {
    try {
      return template.render([...messages, ...more], prompt);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`${reason}; use a template that knows the role tool`, { cause: error });
    }
  };
  /** Text up to and after the last placeholder. */
  const cutAtSpoken = (text: string): { readonly head: string; readonly tail: string } => {
    const at = text.lastIndexOf(spoken);
    if (at < 0) {
      const message = `assistant message ${exchanges}`;
      throw refuse(template, message, "its text to be shown", `none of it in ${excerpt(text)}`);
    }
    return { head: text.slice(0, at), tail: text.slice(at + spoken.length) };
  };

  const closed = cutAtSpoken(render([], false));
  const observed = cutAtSpoken(render([tool(word)], true));
  const closing = closed.tail;
  if (!observed.tail.startsWith(closing)) {
    throw refuse(
      template,
      place,
      "it to be added after the end of the assistant's message",
      firstDifference(closing, observed.tail),
    );
  }
  const observe = (content: string): string =>
    cutAtSpoken(render([tool(content)], true)).tail.slice(closing.length);
  const placement = placeContent(observe, `${word}t${exchanges}`, true);
  if ("expected" in placement) {
    throw refuse(template, place, `it to show ${placement.expected}`, placement.seen);
  }
  return {
    form: { ...placement, closing },
    rewritesHistory: closed.head !== observed.head,
  };
}

function describe(form: ContinuationForm): string {
  return `${form.closing}${form.before}{${form.transform}}${form.after}`;
}

/** A plain word that no template transforms and that occurs nowhere in `text`. */
function unusedWord(text: string): string {
  let number = 0;
  while (text.includes(`placeholder${number}x`)) number++;
  return `placeholder${number}x`;
}

function refuse(template: ChatTemplate, message: string, expected: string, seen: string): Error {
  return new Error(
    `Chat template ${template.name} cannot be continued at ${message}: ` +
      `expected ${expected}, seen ${seen}; use a template that only adds text after a turn`,
  );
}
