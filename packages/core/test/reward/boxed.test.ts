import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ANSWER_WINDOW, extractBoxed, lastBoxed } from "../../src/index.ts";
import { readVector } from "../support/read-vector.ts";

type Row = {
  readonly id: string;
  readonly input: { readonly text: string };
  readonly expected: {
    readonly last_boxed_whole_text: string | null;
    readonly answer: string | null;
  };
};

const rows = await readVector<Row>("extract_boxed.jsonl");

test("the recorded texts are all there", () => expect(rows.length).toBe(432));

test.each(rows.map((row) => [row.id, row] as const))("%s: box as recorded", (_id, row) => {
  expect(lastBoxed(row.input.text)).toBe(row.expected.last_boxed_whole_text);
  expect(extractBoxed(row.input.text)).toBe(row.expected.answer);
});

describe("the window is 300 code points", () => {
  // "\boxed{7}" is 9 code points: 291 after it is the last place where it counts.
  test("a marker that starts inside counts, one that starts before does not", () => {
    expect(extractBoxed(`\\boxed{7}${"x".repeat(291)}`)).toBe("7");
    expect(extractBoxed(`\\boxed{7}${"x".repeat(292)}`)).toBeNull();
  });

  test("a surrogate pair is one code point, a lone surrogate is one too", () => {
    expect(extractBoxed(`\\boxed{7}${"😀".repeat(291)}`)).toBe("7");
    expect(extractBoxed(`\\boxed{7}${"😀".repeat(292)}`)).toBeNull();
    expect(extractBoxed(`\\boxed{7}${"\ude00".repeat(291)}`)).toBe("7");
    expect(extractBoxed(`\\boxed{7}${"\ude00".repeat(292)}`)).toBeNull();
  });
});

test("an unbalanced last box hides an earlier balanced one", () => {
  expect(lastBoxed("\\boxed{1} and \\boxed{2")).toBeNull();
});

test("an escaped brace counts as a brace", () => {
  expect(lastBoxed("\\boxed{\\{1,2\\}}")).toBe("\\{1,2\\}");
  expect(lastBoxed("\\boxed{\\{1}")).toBeNull();
});

test("whatever the text, the box is a part of its last 300 code points, and nothing throws", () => {
  const piece = fc.constantFrom("\\boxed{", "{", "}", "\\{", "\\", "7", "😀", " ");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 500 }), (pieces) => {
      const text = pieces.join("");
      // Independent of our window: the iterator of strings walks code points.
      const tail = [...text].slice(-ANSWER_WINDOW).join("");
      expect(extractBoxed(text)).toBe(lastBoxed(tail));
    }),
  );
});

test("a text of 10 million braces is only read at its end", () => {
  expect(extractBoxed(`${"{".repeat(10_000_000)}\\boxed{7}`)).toBe("7");
});
