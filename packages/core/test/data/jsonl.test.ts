import { expect, test } from "bun:test";
import { formatProblemLine, formatRefusal, parseJsonl, readProblems } from "../../src/index.ts";

test("lines end at \\n only, and blank ones are skipped, counted and still numbered", () => {
  const text = '{"q":"a\u2028b"}\r\n\n  \t\n{"q":1}\n';
  const parsed = parseJsonl(text);
  expect(parsed.records).toEqual([
    { place: { unit: "line", number: 1 }, value: { q: "a\u2028b" } },
    { place: { unit: "line", number: 4 }, value: { q: 1 } },
  ]);
  expect(parsed.blankLines).toBe(2);
  expect(parsed.refused).toEqual([]);
});

test("a bad line does not hide the good ones around it", () => {
  const parsed = parseJsonl('{"a":1}\n{"a":\n{"a":3}');
  expect(parsed.records.map(({ place }) => place.number)).toEqual([1, 3]);
  expect(parsed.refused).toHaveLength(1);
  expect(parsed.refused.map(formatRefusal)[0]).toStartWith(
    'line 2: Expected one JSON value, got "{\\"a\\":" (',
  );
});

test("a byte order mark is no part of the first record", () => {
  expect(parseJsonl('\uFEFF{"a":1}\n').records[0]?.value).toEqual({ a: 1 });
});

test("an empty text holds no line, not one blank line", () => {
  expect(parseJsonl("")).toEqual({ records: [], refused: [], blankLines: 0 });
});

test("numbers that JavaScript would print otherwise stay as they are written", () => {
  const text = '{"id":12345678901234567891,"question":"q","answer":2.50}\n';
  expect(readProblems(parseJsonl(text).records).problems[0]).toEqual({
    id: "12345678901234567891",
    question: "q",
    answer: "2.50",
    dataSource: "interlace",
  });
});

test("an exponent is no way to write an answer", () => {
  expect(parseJsonl('{"a":1e3}').records[0]?.value).toEqual({ a: 1000 });
});

test("a written line is read back as the same problem", () => {
  const problem = { id: "7", question: 'A "q"\n\u2028', answer: "\\frac{1}{2}", dataSource: "own" };
  const line = formatProblemLine(problem);
  expect(line.endsWith("\n")).toBe(true);
  expect(readProblems(parseJsonl(line).records).problems).toEqual([problem]);
});
