/**
 * In: the generations of an evaluation, by problem. Out: average@n, pass@n, unbiased pass@k and pass^k, majority@n,
 * format rate, each with its standard error over problems. Unscored generations are outside every denominator,
 * and counted. Refuses to know files, models and how a verdict came about.
 */
import { compareNatively } from "../reward/native.ts";

/** One generation of one problem. */
export type EvalGeneration = {
  /** null = unscored. */
  readonly correct: boolean | null;
  /** Text of the boxed answer; null = invalid format, or unscored. */
  readonly answer: string | null;
};

/** A mean over problems. */
export type Estimate = {
  /** Mean over `problems`; 0 when there is none. */
  readonly value: number;
  /** Sample standard deviation over problems ÷ √problems; null with fewer than two problems. */
  readonly standardError: number | null;
  /** Problems that have a value. */
  readonly problems: number;
};

export type EvalMetrics = {
  readonly averageAtN: Estimate;
  /** A problem passes when any of its scored generations is right. */
  readonly passAtN: Estimate;
  /** By k: k answers drawn without replacement hold a right one (Chen et al. 2021, unbiased). */
  readonly passAtK: ReadonlyMap<number, Estimate>;
  /** By k: k answers drawn without replacement are all right (Yao et al. 2024, unbiased). */
  readonly passHatK: ReadonlyMap<number, Estimate>;
  readonly majorityAtN: Estimate;
  readonly formatRate: Estimate;
  readonly unscored: number;
};

/** `ks`: k from 1; a problem with fewer scored generations has no value for it. */
export function measureEval(
  problems: readonly (readonly EvalGeneration[])[],
  ks: readonly number[],
): EvalMetrics {
  const scored = problems.map((generations) => generations.filter(isScored));
  const any = scored.filter((generations) => generations.length > 0);
  const byK = (value: (total: number, correct: number, k: number) => number) =>
    new Map(
      ks.map((k) => {
        checkK(k);
        const enough = any.filter((generations) => generations.length >= k);
        return [k, estimate(enough.map((g) => value(g.length, countCorrect(g), k)))];
      }),
    );
  const all = problems.reduce((sum, generations) => sum + generations.length, 0);
  const known = scored.reduce((sum, generations) => sum + generations.length, 0);
  return {
    averageAtN: estimate(any.map((g) => countCorrect(g) / g.length)),
    passAtN: estimate(any.map((g) => Number(countCorrect(g) > 0))),
    passAtK: byK(passAtKOf),
    passHatK: byK(passHatKOf),
    majorityAtN: estimate(any.map(majorityShare)),
    formatRate: estimate(
      any.map((g) => g.filter(({ answer }) => answer !== null).length / g.length),
    ),
    unscored: all - known,
  };
}

/** 1, 2, 4, … and n itself. */
export function powersUpTo(n: number): readonly number[] {
  const powers: number[] = [];
  for (let k = 1; k < n; k *= 2) powers.push(k);
  return [...powers, n];
}

/** 1 − C(n − c, k) / C(n, k); n ≥ k. */
export function passAtKOf(n: number, correct: number, k: number): number {
  return 1 - chooseRatio(n - correct, n, k);
}

/** C(c, k) / C(n, k); n ≥ k. */
export function passHatKOf(n: number, correct: number, k: number): number {
  return chooseRatio(correct, n, k);
}

type Scored = EvalGeneration & { readonly correct: boolean };

/**
 * The share of right answers among those with the most votes: tied answers share. One answer is what is written the
 * same, or the same plain number; the reference has no say. Without any boxed answer it is 0.
 */
export function majorityShare(generations: readonly Scored[]): number {
  const votes: { readonly answer: string; count: number; correct: number }[] = [];
  for (const { answer, correct } of generations) {
    if (answer === null) continue;
    const text = answer.trim();
    let vote = votes.find((each) => isSameAnswer(each.answer, text));
    if (vote === undefined) votes.push((vote = { answer: text, count: 0, correct: 0 }));
    vote.count += 1;
    vote.correct += Number(correct);
  }
  const most = votes.reduce((max, { count }) => Math.max(max, count), 0);
  const top = votes.filter(({ count }) => count === most);
  return top.length === 0
    ? 0
    : top.reduce((sum, { correct, count }) => sum + correct / count, 0) / top.length;
}

function isSameAnswer(a: string, b: string): boolean {
  return a === b || compareNatively(a, b) === "equal";
}

function isScored(generation: EvalGeneration): generation is Scored {
  return generation.correct !== null;
}

function countCorrect(generations: readonly Scored[]): number {
  return generations.filter(({ correct }) => correct).length;
}

function estimate(values: readonly number[]): Estimate {
  const problems = values.length;
  if (problems === 0) return { value: 0, standardError: null, problems };
  const value = values.reduce((sum, each) => sum + each, 0) / problems;
  if (problems < 2) return { value, standardError: null, problems };
  const squares = values.reduce((sum, each) => sum + (each - value) ** 2, 0);
  return { value, standardError: Math.sqrt(squares / (problems - 1) / problems), problems };
}

/** C(a, k) / C(b, k) for a ≤ b, without large numbers. */
function chooseRatio(a: number, b: number, k: number): number {
  let ratio = 1;
  for (let i = 0; i < k; i++) ratio *= Math.max(0, a - i) / (b - i);
  return ratio;
}

function checkK(k: number): void {
  if (Number.isInteger(k) && k >= 1) return;
  throw new RangeError(`Expected k to be a positive integer, got ${k}`);
}
