/**
 * In: a reference and a predicted answer. Out: equal, different, or unsure – for plain numbers only.
 * Refuses to know: everything that Math-Verify reads in its own way (sets, percent, units, words,
 * identical strings that are not numbers): a wrong certainty is worse than a slow verdict.
 * Its rules are proven on recorded verdicts of Math-Verify; widening one needs such a proof.
 */
import { strip } from "../tokens/python-whitespace.ts";
import type { Judge } from "./judge.ts";

/** Longer answers are left to Math-Verify: Python itself refuses integers past 4,300 digits. */
const MAX_LENGTH = 4_000;

/** Digits of a decimal that Math-Verify's floats hold; past them even `…1.60` can differ from `…1.6`. */
const MAX_DECIMAL_DIGITS = 15;

/** ASCII digits, bare or grouped by threes as in `1,234,567`. */
const INTEGER = /^(-?)(\d+|[1-9]\d{0,2}(?:,\d{3})+)$/;
const DECIMAL = /^(-?)(\d+|[1-9]\d{0,2}(?:,\d{3})+)\.(\d+)$/;
const SLASH = /^(-?)(\d+)\/(\d+)$/;
const FRAC = /^(-?)\\[dt]?frac\{(-?)(\d+)\}\{(\d+)\}$/;

/** numerator / denominator, denominator > 0, not reduced. */
type Rational = {
  readonly numerator: bigint;
  readonly denominator: bigint;
  readonly decimal: boolean;
};

/** Equal and different are certain. O(digits²) at most, and digits are bounded. Never throws. */
export function compareNatively(
  reference: string,
  prediction: string,
): "equal" | "different" | "unsure" {
  const left = parseRational(strip(reference));
  const right = left === null ? null : parseRational(strip(prediction));
  if (left === null || right === null) return "unsure";
  const distance = abs(left.numerator * right.denominator - right.numerator * left.denominator);
  if (distance === 0n) return "equal";
  // Math-Verify rounds decimals to six places, so that 0.333333 is 1/3; how, is its own affair.
  const common = left.denominator * right.denominator;
  const close = distance * 1_000_000n <= common;
  return close && (left.decimal || right.decimal) ? "unsure" : "different";
}

/** The native rules as a judge: first in line, since it costs nothing. */
export const nativeJudge: Judge = {
  name: "native",
  judge: async (reference, prediction) => ({ kind: compareNatively(reference, prediction) }),
};

function parseRational(text: string): Rational | null {
  if (text.length > MAX_LENGTH) return null;
  const integer = INTEGER.exec(text);
  if (integer) return rational(integer[1], digits(integer[2]), 1n, false);
  const decimal = DECIMAL.exec(text);
  if (decimal) {
    const fraction = decimal[3] ?? "";
    const written = `${ungroup(decimal[2])}${fraction}`;
    if (written.length > MAX_DECIMAL_DIGITS) return null;
    return rational(decimal[1], BigInt(written), 10n ** BigInt(fraction.length), true);
  }
  const slash = SLASH.exec(text);
  if (slash) return rational(slash[1], digits(slash[2]), digits(slash[3]), false);
  const frac = FRAC.exec(text);
  if (frac) {
    const sign = frac[1] === frac[2] ? "" : "-";
    return rational(sign, digits(frac[3]), digits(frac[4]), false);
  }
  return null;
}

function rational(
  sign: string | undefined,
  numerator: bigint,
  denominator: bigint,
  decimal: boolean,
): Rational | null {
  if (denominator === 0n) return null;
  return { numerator: sign === "-" ? -numerator : numerator, denominator, decimal };
}

function digits(text: string | undefined): bigint {
  return BigInt(ungroup(text));
}

function ungroup(text: string | undefined): string {
  return (text ?? "").replaceAll(",", "");
}

function abs(value: bigint): bigint {
  return value < 0n ? -value : value;
}
