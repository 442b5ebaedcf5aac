/** Problem files in every format, written by pyarrow or by hand, and `data prepare` on the DAPO layout. */
import { afterAll, beforeAll, describe, expect, test, setDefaultTimeout } from "bun:test";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readProblemFile } from "../../src/data-files/read-problem-file.ts";
import { askPython, newFolder, runCli } from "../support/cli.ts";

let folder = "";
beforeAll(() => {
  folder = newFolder();
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Rows as Parquet (by compression) or Arrow file, written by pyarrow. */
async function pyarrowFile(name: string, rows: readonly unknown[], compression = "snappy") {
  const path = join(folder, name);
  await askPython(
    `
import json, sys
import pyarrow as pa, pyarrow.ipc as ipc, pyarrow.parquet as pq
path, compression, rows = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
table = pa.Table.from_pylist(rows)
if path.endswith(".parquet"):
    pq.write_table(table, path, compression=compression, row_group_size=2)
else:
    with ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
print("null")
`,
    [path, compression, JSON.stringify(rows)],
  );
  return path;
}

function textFile(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const read = async (path: string) => (await readProblemFile(path, null)).problems;

const PREFIX =
  "Solve the following math problem step by step. The last line of your response should be of the form " +
  "Answer: $Answer (without quotes) where $Answer is the answer to the problem.\n\n";
const SUFFIX = '\n\nRemember to put your answer on its own line after "Answer:".';

const dapoRow = (question: string, answer: unknown, index: string) => ({
  data_source: "math_dapo",
  prompt: [{ role: "user", content: `${PREFIX}${question}${SUFFIX}` }],
  ability: "MATH",
  reward_model: { ground_truth: answer, style: "rule" },
  extra_info: { index },
});

describe("well-known layouts", () => {
  test("JSONL with id, question, answer, data_source", async () => {
    const path = textFile(
      "own.jsonl",
      '{"id": 7, "question": "Ducks lay 16 eggs…", "answer": "18", "data_source": "gsm8k"}\n',
    );
    expect(await read(path)).toEqual([
      { id: "7", question: "Ducks lay 16 eggs…", answer: "18", dataSource: "gsm8k" },
    ]);
  });

  test("CSV with quoted line breaks, and a byte order mark", async () => {
    const path = textFile(
      "aime.csv",
      '\uFEFFid,problem,answer\n2024-I-1,"Find $x$,\nplease",025\n',
    );
    expect(await read(path)).toEqual([
      { id: "2024-I-1", question: "Find $x$,\nplease", answer: "025", dataSource: "aime" },
    ]);
  });

  test.each([
    ["semicolons.csv", 'id;problem;answer\n7;"1; or 2, which?";1,5\n', "1; or 2, which?", "1,5"],
    ["tabs.csv", "\uFEFFid\tproblem\tanswer\n7\ta;b, c?\t2\n", "a;b, c?", "2"],
    ["tabs.tsv", "id\tproblem\tanswer\n7\t1+1?\t2\n", "1+1?", "2"],
    ["commas.csv", 'id,problem,answer,"x;y;z"\n7,a;b;c?,2,\n', "a;b;c?", "2"],
  ])(
    "%s is separated by what makes columns of its header",
    async (name, text, question, answer) => {
      const problems = await read(textFile(name, text));
      expect(problems).toMatchObject([{ id: "7", question, answer }]);
    },
  );

  test.each(["snappy", "gzip", "zstd", "none"])("DAPO's Parquet, %s", async (compression) => {
    const rows = [dapoRow("1+1?", "2", "a"), dapoRow("2+2?", "4", "b"), dapoRow("3+3?", "6", "c")];
    const path = await pyarrowFile(`dapo-${compression}.parquet`, rows, compression);
    const problems = await read(path);
    expect(problems.map(({ id, answer }) => [id, answer])).toEqual([
      ["a", "2"],
      ["b", "4"],
      ["c", "6"],
    ]);
    expect(problems[0]).toMatchObject({
      question: `${PREFIX}1+1?${SUFFIX}`,
      dataSource: "math_dapo",
    });
  });

  test("an Arrow file with nested columns", async () => {
    const path = await pyarrowFile("dapo.arrow", [dapoRow("1+1?", "2", "a")]);
    expect(await read(path)).toEqual([
      { id: "a", question: `${PREFIX}1+1?${SUFFIX}`, answer: "2", dataSource: "math_dapo" },
    ]);
  });

  test("a column map for everything else", async () => {
    const path = textFile("other.jsonl", '{"q": {"text": "1+1?"}, "a": [2, 3]}\n');
    const columns = { question: "q.text", answer: "a[0]", id: null, dataSource: null } as const;
    const { problems } = await readProblemFile(path, { ...columns, answerForm: "plain" });
    expect(problems).toEqual([{ id: "1", question: "1+1?", answer: "2", dataSource: "columns" }]);
  });
});

describe("rows with a system message of their own", () => {
  const rows = ["1+1?", "2+2?", "3+3?"].map((question, at) => ({
    prompt: [
      { role: "system", content: "Answer in verse." },
      { role: "user", content: question },
    ],
    reward_model: { ground_truth: String(2 * (at + 1)) },
  }));
  const SAID =
    "3 rows carry a system message of their own, which is not used; protocol.system_prompt sets the run's";

  test("ask the user's question, and one note for the file tells", async () => {
    const path = await pyarrowFile("verl.parquet", rows);
    const { problems, notes } = await readProblemFile(path, null);
    expect(problems.map(({ question }) => question)).toEqual(["1+1?", "2+2?", "3+3?"]);
    expect(notes).toEqual([`${path}: ${SAID}`]);
  });

  test("are prepared the same way", async () => {
    const path = textFile(
      "verl.jsonl",
      [...rows, { ...rows[0], prompt: [] }].map((row) => JSON.stringify(row)).join("\n"),
    );
    const args = ["data", "prepare", path, "--dev-size", "0", "--out", "verl", "--json"];
    const { code, stderr } = await runCli(args, folder);
    expect(code).toBe(0);
    expect(stderr).toContain(`${path}: ${SAID}\n`);
    expect(stderr).toContain(`${path}: first dropped: line 4: Expected one user message`);
    const train = readFileSync(join(folder, "verl", "train.jsonl"), "utf8");
    expect(train).toContain('"2+2?"');
    expect(train).not.toContain("verse");
  });
});

describe("data prepare", () => {
  test("strips the template, drops doubles before the split, and counts every row", async () => {
    const rows = [
      ...Array.from({ length: 20 }, (_, i) => dapoRow(`What is ${i}+1?`, String(i + 1), `i${i}`)),
      ...Array.from({ length: 20 }, (_, i) => dapoRow(`What is ${i}+1?`, String(i + 1), `d${i}`)),
      dapoRow("", "3", "q"),
      dapoRow("No answer?", "", "a"),
    ];
    const path = await pyarrowFile("raw.parquet", rows);
    const args = ["data", "prepare", path, "--dev-size", "5", "--out", "prepared", "--json"];
    const { code, stdout } = await runCli(args, folder);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      rows: 42,
      dropped: { question: 1, answer: 1, other: 0 },
      duplicates: 20,
      problems: 20,
      train_size: 15,
      dev_size: 5,
      answer_length: { min: 1, median: 2, max: 2 },
    });
    const lines = (name: string) =>
      readFileSync(join(folder, "prepared", name), "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as { readonly question: string });
    // The order is that of CPython's random.Random(42).shuffle, asked of CPython itself.
    const order = (await askPython(
      `
import json, random
order = list(range(20))
random.Random(42).shuffle(order)
print(json.dumps([f"What is {i}+1?" for i in order]))
`,
    )) as readonly string[];

    // Spawned processes share two cores with everything else.
    setDefaultTimeout(120_000);
    expect(lines("dev.jsonl").map(({ question }) => question)).toEqual(order.slice(0, 5));
    expect(lines("train.jsonl").map(({ question }) => question)).toEqual(order.slice(5));
    expect(lines("train.jsonl")[0]).toMatchObject({ data_source: "math_dapo" });
  });

  test("columns that nobody knows are told the flag, and the flag that is told works", async () => {
    const path = textFile("unknown.csv", "prompt,ground_truth\n1+1?,2\n1+2?,3\n");
    const args = ["data", "prepare", path, "--dev-size", "1", "--out", "told"];
    const { code, stderr } = await runCli(args, folder);
    expect(code).toBe(2);
    const flag = "--columns question=prompt,answer=ground_truth";
    expect(stderr).toContain(`${path}: Expected question and answer, `);
    expect(stderr).toContain(`name the columns: ${flag} (`);
    expect(await runCli([...args, ...flag.split(" ")], folder)).toMatchObject({ code: 0 });
  });

  test("nothing left to train on is an error, and writes nothing", async () => {
    const path = textFile("few.jsonl", '{"question": "1+1?", "answer": "2"}\n');
    const { code, stderr } = await runCli(["data", "prepare", path, "--out", "none"], folder);
    expect(code).toBe(2);
    expect(stderr).toContain("Expected more than 50 distinct problems");
    expect(await Bun.file(join(folder, "none", "dev.jsonl")).exists()).toBe(false);
  });
});

test("problem files of GSM8K's, MATH-500's and AIME's layouts roll out, and the policy is honest about them", async () => {
  const path = textFile(
    "mixed.jsonl",
    [
      {
        id: "g-0",
        question: "A robe takes 2 bolts of blue fibre and half that much white. How many?",
        answer: "3",
        data_source: "gsm8k",
      },
      {
        id: "test/x.json",
        question: "Convert $(0,3)$ to polar coordinates.",
        answer: String.raw`\left( 3, \frac{\pi}{2} \right)`,
        data_source: "math500",
      },
      {
        id: "aime-0",
        question: "Find the number of $n$. ".repeat(80),
        answer: "025",
        data_source: "aime24",
      },
    ]
      .map((row) => JSON.stringify(row))
      .join("\n"),
  );
  const args = ["rollout", "--data", path, "--problems", "3", "--group-size", "2", "--json"];
  const env = { INTERLACE_GRADING_GRADER: "native" };
  const { code, stdout, stderr } = await runCli(args, folder, env);
  expect(code).toBe(0);
  expect(stderr).toContain("cannot do mathematics");
  expect(stderr).not.toContain("repeats some");
  const { steps } = JSON.parse(stdout) as { readonly steps: readonly Record<string, unknown>[] };
  // The last question alone is longer than the policy's context: its group is kept all the same.
  expect(steps[0]).toMatchObject({
    ledger: { trajectories: { total: 6 }, terminations: { prompt_over_budget: 2 } },
  });
});

test("a batch larger than the data says at the start that it repeats problems", async () => {
  const path = textFile(
    "two.jsonl",
    '{"question": "1+1?", "answer": "2"}\n{"question": "1+2?", "answer": "3"}\n',
  );
  const args = ["rollout", "--data", path, "--problems", "3", "--group-size", "2", "--json"];
  const { code, stderr } = await runCli(args, folder, { INTERLACE_GRADING_GRADER: "native" });
  expect(code).toBe(0);
  expect(stderr).toContain(
    "interlace: a batch takes 3 problems and the data holds 2: each batch repeats some; " +
      "set data.questions_per_batch (--problems) to 2 or less to meet each once\n",
  );
});
