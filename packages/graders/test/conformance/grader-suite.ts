/** What every grader promises, whatever it judges by. Its implementations are tested by five lines each. */
import { describe, expect, test } from "bun:test";
import type { Grader } from "@interlace/core";

const HOSTILE = [
  "",
  "\\boxed{}",
  "\\boxed{\0}",
  "\\boxed{\ud800}",
  "\\boxed{$}",
  "\\boxed{\\}",
  `\\boxed{${"{".repeat(100)}${"}".repeat(100)}}`,
  `\\boxed{${"9^{".repeat(20)}${"}".repeat(20)}}`,
  "{".repeat(100_000),
  "\\boxed{".repeat(100_000),
  `\\boxed{${"7".repeat(1_000_000)}}`,
];

/** Texts that a grader of one kind must tell apart. */
export type GraderCase = {
  readonly reference: string;
  readonly right: string;
  readonly wrong: string;
  /** What is kept of the right and the wrong text as their answers. */
  readonly answers: readonly [right: string, wrong: string];
  /** Texts without a valid answer. */
  readonly malformed: readonly string[];
};

export const BOXED: GraderCase = {
  reference: "42",
  right: "so \\boxed{ 42 }",
  wrong: "so \\boxed{41}",
  answers: [" 42 ", "41"],
  malformed: ["42", "\\boxed{42} \\boxed{42", "\\boxed {42}"],
};

export function testGrader(
  name: string,
  open: () => Promise<Grader & Partial<AsyncDisposable>>,
  { reference, right, wrong, answers, malformed }: GraderCase = BOXED,
) {
  const never = new AbortController().signal;
  const withGrader = async (use: (grader: Grader) => Promise<void>): Promise<void> => {
    const grader = await open();
    try {
      await use(grader);
    } finally {
      await grader[Symbol.asyncDispose]?.();
    }
  };

  describe(`${name} is a grader`, () => {
    test("a right answer is equal, a wrong one is different, and both keep the answer's text", () =>
      withGrader(async (grader) => {
        const first = await grader.grade(right, reference, never);
        expect(first).toMatchObject({ kind: "equal", answer: answers[0] });
        const second = await grader.grade(wrong, reference, never);
        expect(second).toMatchObject({ kind: "different", answer: answers[1] });
      }));

    test("a text without a valid answer is different, without an answer", () =>
      withGrader(async (grader) => {
        for (const text of malformed) {
          expect(await grader.grade(text, reference, never)).toMatchObject({
            kind: "different",
            answer: null,
          });
        }
      }));

    test("no text makes it throw, hang or find a wrong answer right", () =>
      withGrader(async (grader) => {
        for (const text of HOSTILE) {
          expect((await grader.grade(text, reference, never)).kind).not.toBe("equal");
        }
        expect((await grader.grade(right, reference, never)).kind).toBe("equal");
      }));

    test("it rejects on abort, and only then", () =>
      withGrader(async (grader) => {
        const controller = new AbortController();
        controller.abort(new Error("stop"));
        const late = grader.grade(right, reference, controller.signal);
        expect(await late.catch(String)).toBe("Error: stop");
      }));
  });
}
