/** Recorded answers of an earlier run, by key: resume and replay are the same call with a past. */
import type { Event } from "../ports/event-log.ts";
import { formatKey } from "../ports/key.ts";
import type { Command } from "../rollout/command.ts";

export type Past = {
  /** The recorded answer to this command, or null. Throws an `OtherPrompt` when it answered another prompt. */
  take(command: Command): Event | null;
};

/** No bug: a person changed what is asked. Told from other errors by `code`. */
export type OtherPrompt = Error & { readonly code: "other_prompt" };

const ANSWER_TYPE = { sample: "sampled", execute: "executed", grade: "graded" } as const;

/** Events of other steps are left out; of two events with one key the first counts. */
export function indexPast(events: Iterable<Event>, step: number): Past {
  const byKey = new Map<string, Event>();
  for (const event of events) {
    const name = `${event.type} ${formatKey(event.key)}`;
    if (event.key.step === step && !byKey.has(name)) byKey.set(name, event);
  }
  return {
    take(command) {
      if (byKey.size === 0) return null;
      const name = `${ANSWER_TYPE[command.type]} ${formatKey(command.key)}`;
      const event = byKey.get(name);
      if (event === undefined) return null;
      byKey.delete(name);
      expectSamePrompt(command, event);
      return event;
    },
  };
}

function expectSamePrompt(command: Command, event: Event): void {
  if (command.type !== "sample" || event.type !== "sampled") return;
  const { prompt } = command.request;
  const seen = event.prompt;
  if (seen.length === prompt.length && seen.hash === prompt.hash) return;
  const message =
    `Recorded answer ${formatKey(event.key)} belongs to a prompt of ${seen.length} tokens (hash ${seen.hash}), ` +
    `this run asks with ${prompt.length} (hash ${prompt.hash}): data, tokenizer or configuration differ`;
  const error: OtherPrompt = Object.assign(new Error(message), { code: "other_prompt" } as const);
  throw error;
}
