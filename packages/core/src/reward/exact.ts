/**
 * In: a reference and a predicted answer. Out: equal when they are written the same, white space around them apart.
 * Refuses to know: mathematics, case, what another way of writing means.
 */
import { strip } from "../tokens/python-whitespace.ts";
import type { Judge } from "./judge.ts";

export const exactJudge: Judge = {
  name: "exact",
  judge: async (reference, prediction) => ({
    kind: strip(reference) === strip(prediction) ? "equal" : "different",
  }),
};
