import { describe, expect, test } from "bun:test";
import {
  aimeIntegerJudge,
  boxedGrader,
  nativeJudge,
  scoreGrade,
  type Judge,
  type Verdict,
} from "../../src/index.ts";
import { readVector } from "../support/read-vector.ts";

const never = new AbortController().signal;

type Asked = { readonly reference: string; readonly prediction: string };

/** Gives the same verdict each time and keeps what it was asked. */
function scriptedJudge(name: string, verdict: Verdict): Judge & { readonly asked: Asked[] } {
  const asked: Asked[] = [];
  return {
    name,
    asked,
    judge: async (reference, prediction) => {
      asked.push({ reference, prediction });
      return verdict;
    },
  };
}

test("the first judge that knows decides, and the ones behind it are not asked", async () => {
  const first = scriptedJudge("first", { kind: "unsure" });
  const second = scriptedJudge("second", { kind: "equal" });
  const third = scriptedJudge("third", { kind: "different" });
  const grader = boxedGrader([first, second, third]);
  expect(await grader.grade("so \\boxed{ x }", "\u001fx\n", never)).toEqual({
    kind: "equal",
    answer: " x ",
    by: "second",
  });
  // Judges see both sides as Python's strip leaves them.
  expect(first.asked).toEqual([{ reference: "x", prediction: "x" }]);
  expect(second.asked).toEqual([{ reference: "x", prediction: "x" }]);
  expect(third.asked).toEqual([]);
});

test("without a valid box the answer is different and no judge is asked", async () => {
  const judge = scriptedJudge("any", { kind: "equal" });
  expect(await boxedGrader([judge]).grade("42", "42", never)).toEqual({
    kind: "different",
    answer: null,
    by: "format",
  });
  expect(judge.asked).toEqual([]);
});

test("an empty box is a valid format that a judge decides", async () => {
  const judge = scriptedJudge("any", { kind: "different" });
  expect(await boxedGrader([judge]).grade("\\boxed{}", "0", never)).toEqual({
    kind: "different",
    answer: "",
    by: "any",
  });
});

describe("not knowing is never a wrong answer", () => {
  test("an unscored verdict is final", async () => {
    const out = { kind: "unscored", reason: "timeout", detail: "10 s" } as const;
    const later = scriptedJudge("later", { kind: "equal" });
    const grader = boxedGrader([scriptedJudge("first", out), later]);
    expect(await grader.grade("\\boxed{x}", "x", never)).toEqual(out);
    expect(later.asked).toEqual([]);
  });

  test("unsure to the end is unscored, naming the judges", async () => {
    const grader = boxedGrader([nativeJudge, scriptedJudge("other", { kind: "unsure" })]);
    expect(await grader.grade("\\boxed{x}", "x", never)).toEqual({
      kind: "unscored",
      reason: "undecided",
      detail: "Expected a verdict from one of: native, other; all of them are unsure",
    });
  });

  test("a judge that throws is unscored", async () => {
    const broken: Judge = {
      name: "broken",
      judge: async () => {
        throw new Error("bug");
      },
    };
    expect(await boxedGrader([broken]).grade("\\boxed{x}", "x", never)).toEqual({
      kind: "unscored",
      reason: "judge_failed",
      detail: "Judge broken threw: Error: bug",
    });
  });
});

test("an abort rejects, before and while a judge thinks", async () => {
  const controller = new AbortController();
  const waiting: Judge = {
    name: "waiting",
    judge: (_reference, _prediction, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("aborted")));
      }),
  };
  const grading = boxedGrader([waiting]).grade("\\boxed{x}", "x", controller.signal);
  controller.abort(new Error("stop"));
  expect(await grading.catch(String)).toBe("Error: aborted");
  const late = boxedGrader([nativeJudge]).grade("\\boxed{1}", "1", controller.signal);
  expect(await late.catch(String)).toBe("Error: stop");
});

test("a grader without judges is a mistake", () => {
  expect(() => boxedGrader([])).toThrow("Expected at least one judge, got none");
});

test("native alone scores the recorded final texts as recorded, or not at all", async () => {
  type Row = {
    readonly id: string;
    readonly input: { readonly text: string; readonly reference: string };
    readonly expected: {
      readonly answer: string | null;
      readonly valid_format: boolean;
      readonly correct: boolean;
      readonly reward: number;
    };
  };
  const grader = boxedGrader([nativeJudge]);
  let scored = 0;
  for (const { id, input, expected } of await readVector<Row>("extract_boxed.jsonl")) {
    const score = scoreGrade(await grader.grade(input.text, input.reference, never));
    if (score === null) continue;
    scored++;
    expect({ id, ...score }).toEqual({
      id,
      reward: expected.reward,
      validFormat: expected.valid_format,
      correct: expected.correct,
      answer: expected.answer,
    });
  }
  expect(scored).toBeGreaterThan(300);
});

describe("aime_integer", () => {
  test.each([
    ["25", "025", "equal"],
    ["25", " 25 ", "equal"],
    ["25", "26", "different"],
    ["25", "25.0", "different"],
    ["25", "x", "different"],
    ["25", "1025", "different"],
    ["25", "２５", "different"],
  ])("reference %p, prediction %p: %p", async (reference, prediction, kind) => {
    expect((await aimeIntegerJudge.judge(reference, prediction, never)).kind).toBe(
      kind as Verdict["kind"],
    );
  });

  test("a reference that is no AIME answer scores nobody", async () => {
    expect(await aimeIntegerJudge.judge("\\sqrt{2}", "1", never)).toMatchObject({
      kind: "unscored",
      reason: "bad_reference",
    });
  });
});
