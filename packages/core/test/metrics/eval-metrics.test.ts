/** Evaluation figures by hand, against numpy, by closed form and by brute force over all subsets. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  measureEval,
  mcnemarTest,
  powersUpTo,
  signFlipTest,
  type Estimate,
  type EvalGeneration,
  type Share,
} from "../../src/index.ts";
import { testPython } from "../support/test-python.ts";

const right = (answer = "7"): EvalGeneration => ({ correct: true, answer });
const wrong = (answer: string | null = "8"): EvalGeneration => ({ correct: false, answer });
const unscored: EvalGeneration = { correct: null, answer: null };

describe("by hand", () => {
  test("two problems of four: 1/4 and 4/4", () => {
    const metrics = measureEval(
      [
        [right(), wrong(), wrong(), wrong(null)],
        [right(), right(), right(), right()],
      ],
      [1, 2, 4],
    );
    expect(metrics.averageAtN).toEqual({ value: 0.625, standardError: 0.375, problems: 2 });
    expect(metrics.passAtN).toEqual({ value: 1, standardError: 0, problems: 2 });
    // 1 − C(3,2)/C(4,2) = 1/2, and 1.
    expect(metrics.passAtK.get(2)?.value).toBe(0.75);
    // C(1,2)/C(4,2) = 0, and 1.
    expect(metrics.passHatK.get(2)?.value).toBe(0.5);
    expect(metrics.formatRate.value).toBe(0.875);
    // 8 has two votes of three.
    expect(metrics.majorityAtN.value).toBe(0.5);
  });

  test("pass@1 is average@n, pass@n is pass@k at k = n, pass^1 is average@n", () => {
    const problems = [
      [right(), wrong(), wrong()],
      [wrong(), wrong(), wrong()],
    ];
    const metrics = measureEval(problems, [1, 3]);
    expect(metrics.passAtK.get(1)?.value).toBeCloseTo(metrics.averageAtN.value, 15);
    expect(metrics.passHatK.get(1)?.value).toBeCloseTo(metrics.averageAtN.value, 15);
    expect(metrics.passAtK.get(3)).toEqual(metrics.passAtN);
  });

  test("tied answers share the vote", () => {
    expect(measureEval([[right(), wrong()]], []).majorityAtN.value).toBe(0.5);
    expect(measureEval([[right(), wrong("8"), wrong("9")]], []).majorityAtN.value).toBeCloseTo(
      1 / 3,
      15,
    );
  });

  test("one number written in two ways is one vote", () => {
    const problem = [right("1/2"), right("0.5"), wrong("3"), wrong("4")];
    expect(measureEval([problem], []).majorityAtN.value).toBe(1);
  });

  test("without a boxed answer there is no majority, which is wrong", () => {
    expect(measureEval([[wrong(null), wrong(null)]], []).majorityAtN.value).toBe(0);
  });

  test("unscored generations are outside every denominator, and counted", () => {
    const metrics = measureEval(
      [
        [right(), unscored, unscored],
        [unscored, unscored, unscored],
      ],
      [1, 2],
    );
    expect(metrics.averageAtN).toEqual({ value: 1, standardError: null, problems: 1 });
    expect(metrics.formatRate.value).toBe(1);
    expect(metrics.unscored).toBe(5);
    // One scored generation: two cannot be drawn.
    expect(metrics.passAtK.get(2)).toEqual({ value: 0, standardError: null, problems: 0 });
  });

  test("k runs through the powers of two and ends at n", () => {
    expect(powersUpTo(12)).toEqual([1, 2, 4, 8, 12]);
    expect(powersUpTo(1)).toEqual([1]);
    expect(powersUpTo(16)).toEqual([1, 2, 4, 8, 16]);
  });

  test("a k that is none is refused", () => {
    expect(() => measureEval([[right()]], [0])).toThrow("positive integer, got 0");
  });
});

describe("paired tests by hand", () => {
  test("McNemar: 0 against 5 discordant problems is 2/32", () => {
    const pairs = [
      ...Array.from({ length: 5 }, () => [false, true] as const),
      [true, true] as const,
    ];
    expect(mcnemarTest(pairs)).toMatchObject({ onlyA: 0, onlyB: 5, pairs: 6 });
    expect(mcnemarTest(pairs).pValue).toBeCloseTo(0.0625, 12);
  });

  test("sign flip: three differences of one sign are 2/8", () => {
    const pair = [share(0, 4), share(1, 4)] as const;
    expect(signFlipTest([pair, pair, pair])).toEqual({
      method: "exact",
      pValue: 0.25,
      difference: 0.25,
      pairs: 3,
    });
  });

  test("no difference, and nothing to compare, have p = 1", () => {
    expect(signFlipTest([[share(1, 2), share(1, 2)]]).pValue).toBe(1);
    expect(signFlipTest([]).pValue).toBe(1);
    expect(mcnemarTest([]).pValue).toBe(1);
  });

  test("many discordant problems do not underflow", () => {
    const pairs = Array.from({ length: 2000 }, (_, i) => [i % 2 === 0, i % 2 === 1] as const);
    expect(mcnemarTest(pairs).pValue).toBe(1);
  });

  test("a table that is too large is sampled with a seed, near the exact value", () => {
    // Totals without a common factor make the table large.
    const primes = [97, 89, 83, 79, 73, 71];
    const pairs = primes.map((total) => [share(0, total), share(total, total)] as const);
    const small = [
      [share(1, 67), share(2, 67)],
      [share(3, 61), share(1, 61)],
    ] as const;
    const sampled = signFlipTest([...pairs, ...small]);
    expect(sampled.method).toBe("sampled");
    expect(signFlipTest([...pairs, ...small])).toEqual(sampled);
    expect(signFlipTest([...pairs, ...small], 7).pValue).not.toBe(sampled.pValue);
    // The six large ones agree in sign, the small ones' sum is 1/67 − 2/61 < 0: 2 of 64, and 3/4 of these.
    expect(sampled.pValue).toBeGreaterThan(0.021);
    expect(sampled.pValue).toBeLessThan(0.026);
  });
});

function share(correct: number, total: number): Share {
  return { correct, total };
}

const generation = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      correct: fc.boolean(),
      answer: fc.constantFrom("7", "7.0", "14/2", "x", " x ", "8"),
    }),
  },
  { weight: 1, arbitrary: fc.constant(wrong(null)) },
  { weight: 1, arbitrary: fc.constant(unscored) },
);

test("numpy, closed forms and all subsets agree", async () => {
  const cases = fc.sample(
    fc.array(fc.array(generation, { minLength: 1, maxLength: 7 }), { minLength: 1, maxLength: 6 }),
    { numRuns: 120, seed: 5 },
  );
  const pairs = fc.sample(
    fc.array(fc.tuple(fc.nat(4), fc.nat(4)), { minLength: 1, maxLength: 9 }),
    { numRuns: 60, seed: 6 },
  );
  const lines = [
    ...cases.map((problems) => ({ problems, ks: [1, 2, 3, 5] })),
    ...pairs.map((each) => ({ a: each.map(([a]) => [a, 4]), b: each.map(([, b]) => [b, 4]) })),
    ...pairs.map((each) => ({
      pass_a: each.map(([a]) => a > 1),
      pass_b: each.map(([, b]) => b > 1),
    })),
  ];
  const answers = await ask(lines);
  expect(answers).toHaveLength(lines.length);
  for (const [i, problems] of cases.entries()) {
    const seen = measureEval(problems, [1, 2, 3, 5]);
    const want = answers[i] as OracleMetrics;
    expectEstimate(seen.averageAtN, want.average_at_n);
    expectEstimate(seen.passAtN, want.pass_at_n);
    expectEstimate(seen.majorityAtN, want.majority_at_n);
    expectEstimate(seen.formatRate, want.format_rate);
    for (const k of [1, 2, 3, 5]) {
      expectEstimate(seen.passAtK.get(k), want.pass_at_k[k]);
      expectEstimate(seen.passHatK.get(k), want.pass_hat_k[k]);
    }
    expect(seen.unscored).toBe(want.unscored);
  }
  for (const [i, each] of pairs.entries()) {
    const flip = signFlipTest(each.map(([a, b]) => [share(a, 4), share(b, 4)]));
    expect(flip.pValue).toBeCloseTo(answers[cases.length + i] as number, 12);
    const mcnemar = mcnemarTest(each.map(([a, b]) => [a > 1, b > 1]));
    expect(mcnemar.pValue).toBeCloseTo(answers[cases.length + pairs.length + i] as number, 12);
  }
}, 120_000);

type OracleEstimate = readonly [value: number, standardError: number | null, problems: number];
type OracleMetrics = Readonly<
  Record<"average_at_n" | "pass_at_n" | "majority_at_n" | "format_rate", OracleEstimate>
> & {
  readonly unscored: number;
  readonly pass_at_k: Readonly<Record<number, OracleEstimate>>;
  readonly pass_hat_k: Readonly<Record<number, OracleEstimate>>;
};

function expectEstimate(seen: Estimate | undefined, want: OracleEstimate | undefined): void {
  if (seen === undefined || want === undefined) throw new Error("Expected a value on both sides");
  expect(seen.value).toBeCloseTo(want[0], 12);
  if (want[1] === null) expect(seen.standardError).toBeNull();
  else expect(seen.standardError ?? NaN).toBeCloseTo(want[1], 12);
  expect(seen.problems).toBe(want[2]);
}

async function ask(lines: readonly unknown[]): Promise<readonly unknown[]> {
  const input = lines.map((line) => JSON.stringify(line)).join("\n");
  const text = await testPython([`${import.meta.dir}/eval_oracle.py`], input);
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
}
