/**
 * In: a reference and a predicted number. Out: equal within a tolerance, absolute or relative to the reference.
 * Refuses to know: units, percent, symbols; what is no plain number is wrong, as a reference it is a wrong file.
 */
import { strip } from "../tokens/python-whitespace.ts";
import type { Judge } from "./judge.ts";

export type Tolerance = {
  /** Equal when |p − r| ≤ absolute, or ≤ relative · |r|. Both ≥ 0. */
  readonly absolute: number;
  readonly relative: number;
};

export function numericJudge(tolerance: Tolerance): Judge {
  for (const [name, value] of Object.entries(tolerance)) {
    if (!(value >= 0 && Number.isFinite(value))) {
      throw new RangeError(`Expected a ${name} tolerance of at least 0, got ${value}`);
    }
  }
  return {
    name: "numeric",
    async judge(reference, prediction) {
      const expected = parseNumber(reference);
      if (expected === null) {
        const detail = `Expected a number as the reference, got ${JSON.stringify(reference.slice(0, 40))}; use another grader for this data set`;
        return { kind: "unscored", reason: "bad_reference", detail };
      }
      const seen = parseNumber(prediction);
      if (seen === null) return { kind: "different" };
      const distance = Math.abs(seen - expected);
      const isClose =
        distance <= tolerance.absolute || distance <= tolerance.relative * Math.abs(expected);
      return { kind: isClose ? "equal" : "different" };
    },
  };
}

const MAX_LENGTH = 400;
/** `-1,234.5`, `.5`, `2.5e-3`, `+7`. */
const DECIMAL = /^[+-]?(?:\d+|\d{1,3}(?:,\d{3})+)?(?:\.\d*)?(?:[eE][+-]?\d{1,3})?$/;
const SLASH = /^([+-]?\d+)\/(\d+)$/;
const FRAC = /^([+-]?)\\[dt]?frac\{([+-]?\d+)\}\{(\d+)\}$/;
/** `2.5 \times 10^{-3}`. */
const SCIENTIFIC = /^([+-]?\d+(?:\.\d+)?)\s*\\(?:times|cdot)\s*10\^(?:\{([+-]?\d{1,3})\}|(\d))$/;

function parseNumber(text: string): number | null {
  const stripped = strip(text).replaceAll("\u2212", "-");
  if (stripped.length > MAX_LENGTH) return null;
  const frac = FRAC.exec(stripped);
  if (frac) return finite((frac[1] === "-" ? -1 : 1) * (Number(frac[2]) / Number(frac[3])));
  const slash = SLASH.exec(stripped);
  if (slash) return finite(Number(slash[1]) / Number(slash[2]));
  const scientific = SCIENTIFIC.exec(stripped);
  if (scientific) {
    return finite(Number(`${scientific[1]}e${scientific[2] ?? scientific[3]}`));
  }
  if (!/\d/.test(stripped) || !DECIMAL.test(stripped)) return null;
  return finite(Number(stripped.replaceAll(",", "")));
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
