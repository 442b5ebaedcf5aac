import { expect, test } from "bun:test";
import { prepareProblems, stripTemplate, tableRecords } from "../../src/index.ts";

const PREFIX =
  "Solve the following math problem step by step. The last line of your response should be of the form Answer: $Answer (without quotes) where $Answer is the answer to the problem.\n\n";
const SUFFIX = '\n\nRemember to put your answer on its own line after "Answer:".';

const dapo = (question: string, answer: unknown, index: string) => ({
  data_source: "math_dapo",
  prompt: [{ content: question, role: "user" }],
  reward_model: { ground_truth: answer },
  extra_info: { index },
});

test("the outer template goes, prefix and suffix each on its own", () => {
  expect(stripTemplate(`${PREFIX} Find x. ${SUFFIX}`)).toBe("Find x.");
  expect(stripTemplate(`${PREFIX}Find x.`)).toBe("Find x.");
  expect(stripTemplate(`Find x.${SUFFIX}`)).toBe("Find x.");
  expect(stripTemplate(" Find x.\n")).toBe("Find x.");
  // Inside the text the words are the problem's own.
  expect(stripTemplate(`Quote: ${PREFIX}end`)).toBe(`Quote: ${PREFIX}end`);
});

test("doubles go before the split, so no held-out problem is trained on", () => {
  const rows = Array.from({ length: 300 }, (_, row) =>
    dapo(`${PREFIX}Problem ${row % 100}${SUFFIX}`, String(row % 100), `id-${row}`),
  );
  const { train, dev, stats } = prepareProblems(tableRecords(rows));
  expect(dev).toHaveLength(50);
  expect(train).toHaveLength(50);
  const held = new Set(dev.map(({ question }) => question));
  expect(train.some(({ question }) => held.has(question))).toBe(false);
  expect(stats).toMatchObject({ rows: 300, duplicates: 200, problems: 100 });
});

test("the split is CPython's shuffle with seed 42", () => {
  const rows = Array.from({ length: 10 }, (_, row) => dapo(`P${row}`, "1", `${row}`));
  const { train, dev } = prepareProblems(tableRecords(rows), { devSize: 3 });
  // a = list(range(10)); random.Random(42).shuffle(a)
  expect(dev.map(({ id }) => id)).toEqual(["7", "3", "2"]);
  expect(train.map(({ id }) => id)).toEqual(["8", "5", "6", "9", "4", "0", "1"]);
});

test("the same question with another answer is another problem", () => {
  const rows = [dapo("P", "1", "a"), dapo("P", "2", "b"), dapo(" P ", "1 ", "c")];
  const { stats } = prepareProblems(tableRecords(rows), { devSize: 0 });
  expect(stats).toMatchObject({ problems: 2, duplicates: 1 });
});

test("rows without question or answer are dropped and counted; a 0 is an answer", () => {
  const rows = [
    dapo("P", 0, "a"),
    dapo(`${PREFIX}${SUFFIX}`, "1", "b"),
    dapo("  ", "1", "c"),
    dapo("P", null, "d"),
    dapo("P", [], "e"),
    { prompt: [] },
    "no record",
  ];
  const { train, stats } = prepareProblems(tableRecords(rows), { devSize: 0 });
  expect(train).toEqual([{ id: "a", question: "P", answer: "0", dataSource: "math_dapo" }]);
  expect(stats).toMatchObject({
    rows: 7,
    dropped: { question: 3, answer: 2, other: 1 },
    duplicates: 0,
    problems: 1,
  });
});

test("system messages are counted, and the first row that was dropped is told with its reason", () => {
  const system = { role: "system", content: "Be brief." };
  const asked = { ...dapo("P", "1", "a"), prompt: [system, { role: "user", content: "P" }] };
  const unasked = { ...asked, prompt: [system] };
  const { train, stats } = prepareProblems(tableRecords([asked, unasked]), { devSize: 0 });
  expect(train.map(({ question }) => question)).toEqual(["P"]);
  expect(stats).toMatchObject({ systemMessages: 1, dropped: { question: 1, answer: 0, other: 0 } });
  expect(stats.firstRefused).toMatchObject({ place: { unit: "row", number: 2 }, part: "question" });
  expect(() => prepareProblems(tableRecords([unasked]))).toThrow(
    "or other columns; the first row dropped is row 1: Expected one user message",
  );
});

test("answer lengths are told in code points, with the median of an even number in the middle", () => {
  const rows = ["1", "22", "𝟛𝟛𝟛", "4444444444"].map((answer, row) =>
    dapo(`P${row}`, answer, `${row}`),
  );
  const { stats } = prepareProblems(tableRecords(rows), { devSize: 0 });
  expect(stats.answerLength).toEqual({ min: 1, median: 2.5, max: 10 });
});

test("nothing left to train on is an error that tells the counts", () => {
  const rows = [dapo("P", "1", "a"), dapo("P", "1", "b")];
  expect(() => prepareProblems(tableRecords(rows), { devSize: 1 })).toThrow(
    "Expected more than 1 distinct problems (the size of the dev set), got 1 from 2 rows; give more rows, a smaller dev set, or other columns",
  );
  expect(() => prepareProblems([])).toThrow("got 0 from 0 rows");
});

test("a name for the data set serves where the rows have none", () => {
  const rows = [{ question: "q", answer: "1" }];
  const { train } = prepareProblems(tableRecords(rows), { devSize: 0, dataSource: "mine" });
  expect(train[0]?.dataSource).toBe("mine");
});
