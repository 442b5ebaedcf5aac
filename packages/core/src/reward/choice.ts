/**
 * In: the letter of a multiple-choice question, and a predicted one. Out: whether they are the same letter.
 * Refuses to know: what the choices say. More than a letter is no choice, and so wrong.
 */
import { strip } from "../tokens/python-whitespace.ts";
import type { Judge } from "./judge.ts";

/** `B`, `b`, `(B)`, `B)`, `B.`, `\text{B}`, `\textbf{(B)}`. */
export const choiceJudge: Judge = {
  name: "choice",
  async judge(reference, prediction) {
    const expected = parseChoice(reference);
    if (expected === null) {
      const detail = `Expected a letter from A to Z as the reference, got ${JSON.stringify(reference.slice(0, 40))}; use another grader for this data set`;
      return { kind: "unscored", reason: "bad_reference", detail };
    }
    return { kind: parseChoice(prediction) === expected ? "equal" : "different" };
  },
};

const COMMAND = /^\\(?:text|textbf|mathrm|mathbf)\{([^{}]*)\}$/;
const LETTER = /^(?:\(([A-Za-z])\)|([A-Za-z])[).]?)$/;

function parseChoice(text: string): string | null {
  const stripped = strip(text);
  if (stripped.length > 40) return null;
  const inner = strip(COMMAND.exec(stripped)?.[1] ?? stripped);
  const [, bracketed, bare] = LETTER.exec(inner) ?? [];
  return (bracketed ?? bare)?.toUpperCase() ?? null;
}
