/**
 * A language small enough to read in one's head: one id per character (its code), `run:CODE` calls the tool,
 * `bad…` is an invalid call, anything else answers. D_i is written out in full:
 *   closing [END], observation [OBS] … [END], next prefix [GO].
 */
import type { ParsedTurn, Protocol } from "../../src/index.ts";

export const END = 300;
export const OBS = 301;
export const GO = 302;
export const TOY_VOCAB = 303;

export function toyIds(text: string): number[] {
  return [...text].map((c) => c.charCodeAt(0));
}

/** Ids of a completion that stops by itself. */
export function said(text: string): number[] {
  return [...toyIds(text), END];
}

export function toyProtocol(): Protocol {
  return {
    stopIds: [END],
    vocabSize: TOY_VOCAB,
    firstPrompt: (question) => Int32Array.from([...toyIds(question), GO]),
    decodeTurn: (ids) =>
      [...ids]
        .filter((id) => id < 256)
        .map((id) => String.fromCharCode(id))
        .join("")
        .trim(),
    parse: parseToy,
    opensCall: (text) => text.startsWith("run:") || text.startsWith("bad"),
    countPlain: (text) => text.length,
    joinObservation: (completion, content) => {
      const closing = completion.at(-1) === END ? [] : [END];
      return Int32Array.from([...closing, OBS, ...toyIds(content), END, GO]);
    },
  };
}

/** Ids that a joined observation adds besides its content when the completion ended with END. */
export const TOY_WRAPPER = 3;

function parseToy(text: string): ParsedTurn {
  if (text.startsWith("run:")) return { kind: "tool", content: "", code: text.slice(4) };
  if (text.startsWith("bad")) return { kind: "invalid", content: text, cause: "unclosed_call" };
  return { kind: "answer", content: text };
}
