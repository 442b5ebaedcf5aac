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

export function testGrader(name: string, open: () => Promise<Grader & Partial<AsyncDisposable>>) {
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
    test("a right number is equal, a wrong one is different, and both keep the box's text", () =>
      withGrader(async (grader) => {
        const right = await grader.grade("so \\boxed{ 42 }", "42", never);
        expect(right).toMatchObject({ kind: "equal", answer: " 42 " });
        const wrong = await grader.grade("so \\boxed{41}", "42", never);
        expect(wrong).toMatchObject({ kind: "different", answer: "41" });
      }));

    test("no box and an unbalanced last box are different, without an answer", () =>
      withGrader(async (grader) => {
        for (const text of ["42", "\\boxed{42} \\boxed{42", "\\boxed {42}"]) {
          expect(await grader.grade(text, "42", never)).toMatchObject({
            kind: "different",
            answer: null,
          });
        }
      }));

    test("no text makes it throw, hang or find a wrong answer right", () =>
      withGrader(async (grader) => {
        for (const text of HOSTILE) {
          expect((await grader.grade(text, "42", never)).kind).not.toBe("equal");
        }
        expect((await grader.grade("\\boxed{42}", "42", never)).kind).toBe("equal");
      }));

    test("it rejects on abort, and only then", () =>
      withGrader(async (grader) => {
        const controller = new AbortController();
        controller.abort(new Error("stop"));
        const late = grader.grade("\\boxed{x}", "42", controller.signal);
        expect(await late.catch(String)).toBe("Error: stop");
      }));
  });
}
