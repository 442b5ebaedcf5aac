/** Judges that read one kind of answer: what they take, what they refuse, and that nothing makes them throw. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { choiceJudge, exactJudge, numericJudge, type Judge } from "../../src/index.ts";

const { signal } = new AbortController();
const ask = async (judge: Judge, reference: string, prediction: string) =>
  (await judge.judge(reference, prediction, signal)).kind;

describe("exact", () => {
  test.each([
    ["a b", " a b ", "equal"],
    ["a b", "a  b", "different"],
    ["Paris", "paris", "different"],
    ["1/2", "0.5", "different"],
  ])("%j against %j is %s", async (reference, prediction, verdict) => {
    expect(await ask(exactJudge, reference, prediction)).toBe(verdict as never);
  });
});

describe("choice", () => {
  test.each(["B", "b", "(B)", "B)", "B.", String.raw`\text{B}`, String.raw`\textbf{(B)}`, " B "])(
    "%j is B",
    async (text) => {
      expect(await ask(choiceJudge, "B", text)).toBe("equal");
      expect(await ask(choiceJudge, text, "B")).toBe("equal");
      expect(await ask(choiceJudge, "C", text)).toBe("different");
    },
  );

  test.each(["B or C", "AB", "(B", "2", "", "Answer: B"])("%j is no choice", async (text) => {
    expect(await ask(choiceJudge, "B", text)).toBe("different");
    expect(await ask(choiceJudge, text, "B")).toBe("unscored");
  });
});

describe("numeric", () => {
  const close = numericJudge({ absolute: 0.01, relative: 0 });
  const share = numericJudge({ absolute: 0, relative: 0.01 });

  test.each([
    ["3.14", "3.149", "equal"],
    ["3.14", "3.16", "different"],
    ["1/3", "0.333", "equal"],
    [String.raw`\frac{1}{3}`, "0.34", "equal"],
    [String.raw`-\dfrac{1}{2}`, "-0.5", "equal"],
    ["1,234.5", "1234.5", "equal"],
    ["0.0025", String.raw`2.5 \times 10^{-3}`, "equal"],
    ["2500", "2.5e3", "equal"],
    ["-2", "\u22122", "equal"],
    ["7", "seven", "different"],
    ["7", "1e999", "different"],
    ["7", "7%", "different"],
    ["7", "1/0", "different"],
  ])("within 0.01, %j against %j is %s", async (reference, prediction, verdict) => {
    expect(await ask(close, reference, prediction)).toBe(verdict as never);
  });

  test("a relative tolerance is one of the reference", async () => {
    expect(await ask(share, "1000", "1010")).toBe("equal");
    expect(await ask(share, "1000", "1011")).toBe("different");
    expect(await ask(share, "0", "0.0001")).toBe("different");
  });

  test("a reference that is no number is a wrong file, not a wrong answer", async () => {
    expect(await ask(close, "x", "7")).toBe("unscored");
  });

  test("a tolerance below 0 is refused", () => {
    expect(() => numericJudge({ absolute: -1, relative: 0 })).toThrow("absolute tolerance");
  });
});

test("no text makes one throw", () =>
  fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary" }), fc.string(), async (a, b) => {
      for (const judge of [exactJudge, choiceJudge, numericJudge({ absolute: 0, relative: 0 })]) {
        expect(await ask(judge, a, b)).toBeString();
      }
    }),
  ));
