import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  formatRefusal,
  parseColumnPath,
  readColumn,
  readProblems,
  tableRecords,
  type ColumnMap,
  type ReadOptions,
} from "../../src/index.ts";
import { formatColumns } from "../../src/data/suggest-columns.ts";

const read = (rows: readonly unknown[], options?: ReadOptions) =>
  readProblems(tableRecords(rows), options);

describe("layouts are told from the first record", () => {
  test("our own, with a number as id", () => {
    const { problems, layout } = read([
      { id: 3, question: "1+1?", answer: "2", data_source: "mine" },
    ]);
    expect(layout).toBe("interlace");
    expect(problems).toEqual([{ id: "3", question: "1+1?", answer: "2", dataSource: "mine" }]);
  });

  test("AIME, whatever the case of its columns", () => {
    const { problems, layout } = read([
      { ID: "2024-I-1", Problem: "Find n.", Solution: "…", Answer: 204 },
      { ID: "2024-I-2", Problem: "Find m.", Solution: "…", Answer: 25 },
    ]);
    expect(layout).toBe("aime");
    expect(problems.map(({ id, answer }) => [id, answer])).toEqual([
      ["2024-I-1", "204"],
      ["2024-I-2", "25"],
    ]);
    expect(read([{ problem: "p", answer: "033" }]).problems[0]).toEqual({
      id: "1",
      question: "p",
      answer: "033",
      dataSource: "aime",
    });
  });

  test("GSM8K: the answer is what follows ####", () => {
    const { problems, layout } = read([
      { question: "How many?", answer: "She sold 48/2 = <<48/2=24>>24.\n#### 1,024" },
    ]);
    expect(layout).toBe("gsm8k");
    expect(problems[0]).toEqual({
      id: "1",
      question: "How many?",
      answer: "1,024",
      dataSource: "gsm8k",
    });
  });

  test("MATH: the answer is in the solution's last box", () => {
    const { problems, layout } = read([
      { problem: "p", level: "Level 5", solution: "So $\\boxed{1}$, no, $\\boxed{\\frac{1}{2}}$." },
    ]);
    expect(layout).toBe("math");
    expect(problems[0]?.answer).toBe("\\frac{1}{2}");
  });

  test("DAPO: nested columns, a list as the truth, an id from extra_info", () => {
    const { problems, layout } = read([
      {
        data_source: "math_dapo",
        prompt: [{ content: "What is 6·7?", role: "user" }],
        reward_model: { ground_truth: ["42", "forty-two"], style: "rule" },
        extra_info: { index: "9a9b6eb4" },
      },
    ]);
    expect(layout).toBe("dapo");
    expect(problems).toEqual([
      { id: "9a9b6eb4", question: "What is 6·7?", answer: "42", dataSource: "math_dapo" },
    ]);
  });

  test("an unknown layout names its columns and what would do", () => {
    expect(() => read([{ text: "q", label: 1 }])).toThrow(
      "Expected question and answer, problem and answer, problem and solution, or prompt and reward_model.ground_truth, got columns text, label in row 1; name the columns: --columns question=text,answer=label ([data.columns] in a TOML file for names with commas)",
    );
  });

  const MORE = " ([data.columns] in a TOML file for names with commas)";
  test.each([
    [{ prompt: "q", ground_truth: "1" }, `--columns question=prompt,answer=ground_truth${MORE}`],
    [{ Response: "1", Query: "q" }, `--columns question=Query,answer=Response${MORE}`],
    [
      { prompt: "q", reward_model: { ground_truth: "1" } },
      `--columns question=prompt,answer=reward_model.ground_truth${MORE}`,
    ],
    [{ prompt: "q", x: "1" }, `--columns question=prompt,answer=COLUMN${MORE}`],
    [{ "a.b": 1, "it's": 2 }, `--columns question=COLUMN,answer=COLUMN${MORE}`],
  ])("%j is told the flag that names its columns", (row, advice) => {
    expect(() => read([row])).toThrow(new RegExp(`; name the columns: ${RegExp.escape(advice)}$`));
  });

  test("names that a shell or the flag would split are written so that they are not", () => {
    expect(formatColumns("my prompt", "a")).toBe("--columns 'question=my prompt,answer=a'");
    expect(formatColumns("it's", "a")).toBe(String.raw`--columns 'question=it'\''s,answer=a'`);
    expect(formatColumns("q, asked", "a")).toBe(
      'question = "q, asked" and answer = "a" under [data.columns] in a TOML file',
    );
  });

  test("a first record that is no object is told what to write", () => {
    expect(() => read(["q"])).toThrow('got "q" in row 1; write each problem as an object');
  });
});

describe("a prompt of several messages", () => {
  const user = (content: unknown) => ({ role: "user", content });
  const system = { role: "system", content: "Think step by step." };
  const assistant = { role: "assistant", content: "4" };
  const row = (prompt: unknown) => ({ prompt, reward_model: { ground_truth: "4" } });

  test("the question is the user's, whatever stands before it; system messages are counted", () => {
    const { problems, layout, systemMessages } = read([
      row([system, user("2+2?")]),
      row([user("1+3?")]),
      row([user("0+4?"), system]),
    ]);
    expect(layout).toBe("dapo");
    expect(problems.map(({ question }) => question)).toEqual(["2+2?", "1+3?", "0+4?"]);
    expect(systemMessages).toBe(2);
  });

  test("also in a column that the caller names", () => {
    const columns: ColumnMap = {
      id: null,
      question: "a.b",
      answer: "gold",
      dataSource: null,
      answerForm: "plain",
    };
    const { problems } = read([{ "a.b": [system, user("2+2?")], gold: 4 }], { columns });
    expect(problems).toMatchObject([{ question: "2+2?", answer: "4" }]);
  });

  const EXPECTED = "Expected one user message, and none but a system message beside it, in prompt";
  const name = (at: number) =>
    `name the message that asks, as --columns 'question=prompt[${at}].content,answer=reward_model.ground_truth'`;
  test.each([
    [[user("a"), user("b")], `${EXPECTED}, got user, user; ${name(1)}`],
    [[system, user("a"), assistant], `${EXPECTED}, got system, user, assistant; ${name(1)}`],
    [[system], `${EXPECTED}, got system; write the question as a message with role user`],
    [[], `${EXPECTED}, got an empty list; write the question as a message with role user`],
    [
      ["2+2?"],
      `${EXPECTED}, got a message without role; write the question as a message with role user`,
    ],
    [
      Array.from({ length: 9 }, () => user("a")),
      `${EXPECTED}, got user, user, user, user, user, user, … (9 messages); ${name(8)}`,
    ],
    [[system, user(" ")], 'Expected a question in prompt[1].content, got " "'],
    [[user([{ type: "text" }])], "Expected a question in prompt[0].content, got a list"],
  ])("%j is refused", (prompt, reason) => {
    // The first row speaks for the layout, not for the others.
    for (const first of [row([user("2+2?")]), row(prompt)]) {
      const { refused } = read([first, row(prompt)]);
      expect(refused.map(formatRefusal).at(-1)).toBe(`row 2: ${reason}`);
    }
  });
});

describe("values", () => {
  test("0 is an answer, and 64-bit integers of Parquet are ids", () => {
    const { problems } = read([{ id: 0n, question: "q", answer: 0 }]);
    expect(problems[0]).toMatchObject({ id: "0", answer: "0" });
  });

  test("a column map is followed along lists and structs", () => {
    const columns: ColumnMap = {
      id: "meta.ids[1]",
      question: "prompt[1].content",
      answer: "a.b",
      dataSource: null,
      answerForm: "plain",
    };
    const row = {
      meta: { ids: ["x", "y"] },
      prompt: [{ content: "system" }, { content: "q" }],
      "a.b": "flat",
      a: { b: "nested" },
    };
    const { problems, layout } = read([row], { columns, dataSource: "train.parquet" });
    expect(layout).toBe("columns");
    // A column really named `a.b` comes before the path.
    expect(problems).toEqual([
      { id: "y", question: "q", answer: "flat", dataSource: "train.parquet" },
    ]);
  });

  test("a path into what is not there is nothing, also along the prototype", () => {
    expect(readColumn({ a: "text" }, "a.length")).toBeUndefined();
    expect(readColumn({ a: {} }, "a.constructor")).toBeUndefined();
    expect(readColumn({ a: [1] }, "a[1].b")).toBeUndefined();
  });

  test.each(["", "[0]", "a..b", "a.", ".a", "a[x]", "a[0", "a]b", "a[0]b"])(
    "%p is no path",
    (path) => expect(() => parseColumnPath(path)).toThrow("Expected a column path like answer"),
  );
});

describe("a bad record is refused with its place and reason", () => {
  test.each([
    [{ id: 1, question: " ", answer: "1" }, 'row 2: Expected a question in question, got " "'],
    [{ id: 1, question: "q" }, "row 2: Expected an answer in answer, got nothing"],
    [
      { id: 1, question: "q", answer: [] },
      "row 2: Expected an answer in answer, got an empty list",
    ],
    [{ id: 1, question: "q", answer: true }, "row 2: Expected an answer in answer, got true"],
    [{ id: 1, question: "q", answer: NaN }, "row 2: Expected an answer in answer, got NaN"],
    [{ id: null, question: "q", answer: "1" }, "row 2: Expected an id in id, got nothing"],
    [{ id: 1, question: {}, answer: "1" }, "row 2: Expected a question in question, got an object"],
    ["q", 'row 2: Expected an object, got "q"'],
  ])("%j", (row, reason) => {
    const { problems, refused } = read([{ id: 0, question: "q", answer: "1" }, row]);
    expect(problems).toHaveLength(1);
    expect(refused.map(formatRefusal)).toEqual([reason]);
  });

  test.each([
    [["1"], "got a list of 1", "question=question,answer=answer[0]"],
    [["#### 1", "2"], "got a list of 2", "question=question,answer=answer[0],answer_form=hashes"],
  ])("%j is no answer, though it holds some", (answer, seen, columns) => {
    const { problems, refused } = read([{ question: "q", answer }]);
    expect(problems).toEqual([]);
    expect(refused.map(formatRefusal)).toEqual([
      `row 1: Expected one answer in answer, ${seen}; name the element that counts, as --columns '${columns}'`,
    ]);
  });

  test("a GSM8K record without #### and a solution without a box are no answers", () => {
    const gsm = read([
      { question: "q", answer: "#### 1" },
      { question: "q", answer: "2" },
    ]);
    expect(gsm.refused.map(formatRefusal)).toEqual([
      'row 2: Expected an answer behind #### in answer, got "2"',
    ]);
    const math = read([{ problem: "p", solution: "so \\boxed{1" }]);
    expect(math.refused.map(formatRefusal)).toEqual([
      'row 1: Expected an answer in \\boxed{} in solution, got "so \\\\boxed{1"',
    ]);
  });

  test("every record is a problem or refused, whatever it holds", () => {
    fc.assert(
      fc.property(fc.array(fc.anything()), (rows) => {
        const first = { id: 1, question: "q", answer: "a" };
        const { problems, refused } = read([first, ...rows]);
        expect(problems.length + refused.length).toBe(rows.length + 1);
      }),
    );
  });
});

test("ids that occur more than once are counted, and the first few named", () => {
  const rows = ["a", "b", "a", "c", "a", "b"].map((id) => ({ id, question: "q", answer: "1" }));
  expect(read(rows).duplicateIds).toEqual({
    ids: 2,
    extra: 3,
    examples: [
      { id: "a", count: 3 },
      { id: "b", count: 2 },
    ],
  });
});

test("no record at all is no error here: the commands decide", () => {
  expect(read([])).toMatchObject({ problems: [], refused: [], layout: null });
});
