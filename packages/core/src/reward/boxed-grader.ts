/**
 * In: judges, cheapest first. Out: a `Grader`: the boxed answer, asked of one judge after the other
 * until one knows. Refuses to know: how any judge decides.
 */
import type { Grade, Grader } from "../ports/grader.ts";
import { strip } from "../tokens/python-whitespace.ts";
import { extractBoxed } from "./boxed.ts";
import type { Judge, Verdict } from "./judge.ts";

/**
 * No valid box is `different` without asking anyone. What all judges leave unsure is `unscored`
 * (`undecided`); a judge that breaks its promise and throws is `unscored` too (`judge_failed`).
 */
export function boxedGrader(judges: readonly Judge[]): Grader {
  if (judges.length === 0) throw new Error("Expected at least one judge, got none");
  const names = judges.map((judge) => judge.name).join(", ");
  return {
    async grade(finalText, answer, signal): Promise<Grade> {
      const boxed = extractBoxed(finalText);
      if (boxed === null) return { kind: "different", answer: null, by: "format" };
      const reference = strip(answer);
      const prediction = strip(boxed);
      for (const judge of judges) {
        const verdict = await ask(judge, reference, prediction, signal);
        switch (verdict.kind) {
          case "equal":
          case "different":
            return { kind: verdict.kind, answer: boxed, by: judge.name };
          case "unscored":
            return verdict;
          case "unsure":
            break;
        }
      }
      const detail = `Expected a verdict from one of: ${names}; all of them are unsure`;
      return { kind: "unscored", reason: "undecided", detail };
    },
  };
}

async function ask(
  judge: Judge,
  reference: string,
  prediction: string,
  signal: AbortSignal,
): Promise<Verdict> {
  signal.throwIfAborted();
  try {
    return await judge.judge(reference, prediction, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    const detail = `Judge ${judge.name} threw: ${String(error)}`;
    return { kind: "unscored", reason: "judge_failed", detail };
  }
}
