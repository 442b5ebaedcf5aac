/**
 * In: a reference and a predicted answer. Out: a verdict by the rules of the AIME: integers from 0 to 999.
 * Refuses to know: any other mathematics. A named judge of its own, never mixed with another.
 */
import { strip } from "../tokens/python-whitespace.ts";
import type { Judge } from "./judge.ts";

/** `025` is 25. Everything that is no such integer is a wrong answer; as a reference it is a wrong file. */
export const aimeIntegerJudge: Judge = {
  name: "aime_integer",
  async judge(reference, prediction) {
    const expected = parseAime(reference);
    if (expected === null) {
      const detail = `Expected an integer from 0 to 999 as the reference, got ${JSON.stringify(reference.slice(0, 40))}; use the default grader for this data set`;
      return { kind: "unscored", reason: "bad_reference", detail };
    }
    return { kind: parseAime(prediction) === expected ? "equal" : "different" };
  },
};

function parseAime(text: string): number | null {
  const stripped = strip(text);
  return /^\d{1,3}$/.test(stripped) ? Number(stripped) : null;
}
