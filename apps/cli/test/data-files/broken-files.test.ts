/** Files that are broken, each in its own way: one line that names the file, the row where there is one, and why. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readProblemFile } from "../../src/data-files/read-problem-file.ts";
import { askPython, newFolder } from "../support/cli.ts";

setDefaultTimeout(120_000);

const GOOD = { id: "1", question: "1+1?", answer: "2" };
const jsonl = (...rows: readonly unknown[]) =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join("");

let folder = "";
beforeAll(async () => {
  folder = newFolder();
  await askPython(
    `
import sys
import pyarrow as pa, pyarrow.ipc as ipc, pyarrow.parquet as pq
folder = sys.argv[1]
good = [{"id": str(i), "question": "1+1?", "answer": "2"} for i in range(4)]
table = pa.Table.from_pylist(good)
pq.write_table(table, folder + "/good.parquet")
pq.write_table(pa.Table.from_pylist(good[:2] + [{"id": "3", "question": None, "answer": "2"}]), folder + "/null.parquet")
pq.write_table(pa.table({"text": ["a"]}), folder + "/other.parquet")
pq.write_table(table.slice(0, 0), folder + "/empty.parquet")
dapo = {"prompt": [{"content": "1+1?", "role": "user"}], "reward_model": {"ground_truth": ["2"], "style": "rule"}}
none = {"prompt": [{"content": "1+1?", "role": "user"}], "reward_model": {"ground_truth": [], "style": "rule"}}
pq.write_table(pa.Table.from_pylist([dapo, none]), folder + "/dapo.parquet")
for name, compression in (("good", None), ("lz4", "lz4")):
    with ipc.new_file(folder + "/" + name + ".arrow", table.schema, options=ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table)
import pandas as pd
pd.DataFrame(good).to_feather(folder + "/pandas.feather")
pd.DataFrame(good).to_feather(folder + "/zstd.feather", compression="zstd")
pd.DataFrame(good).to_feather(folder + "/none.feather", compression=None)
pd.DataFrame(good).to_feather(folder + "/as-told.feather", compression="uncompressed")
import polars as pl
pl.DataFrame(good).write_ipc(folder + "/as-told.arrow", compression="uncompressed")
print("null")
`,
    [folder],
  );
  const half = (name: string) => {
    const bytes = readFileSync(join(folder, name));
    return bytes.subarray(0, Math.floor(bytes.length * 0.6));
  };
  writeFileSync(join(folder, "cut.parquet"), half("good.parquet"));
  writeFileSync(join(folder, "cut.arrow"), half("good.arrow"));
  writeFileSync(join(folder, "text.parquet"), "id,question,answer\n");
  const latin1 = jsonl(GOOD, { ...GOOD, question: "Élan?" });
  writeFileSync(join(folder, "latin1.jsonl"), Buffer.from(latin1, "latin1"));
  writeFileSync(join(folder, "utf16.jsonl"), Buffer.from(jsonl(GOOD), "utf16le"));
  mkdirSync(join(folder, "folder.jsonl"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What a person reads. */
async function refusal(name: string, content?: string): Promise<string> {
  const path = join(folder, name);
  if (content !== undefined) writeFileSync(path, content);
  try {
    await readProblemFile(path, null);
  } catch (error) {
    return (error as Error).message.replaceAll(`${folder}/`, "");
  }
  throw new Error(`${name} was read`);
}

test.each<[name: string, content: string | undefined, said: RegExp]>([
  [
    "json.jsonl",
    `${jsonl(GOOD)}{"id": "2", "question"\n`,
    /^json\.jsonl, line 2: Expected one JSON value, got "/,
  ],
  ["list.jsonl", jsonl(GOOD, [1, 2]), /^list\.jsonl, line 2: Expected an object, got a list$/],
  [
    "answer.jsonl",
    `\n${jsonl(GOOD, { id: "2", question: "?" })}`,
    /^answer\.jsonl, line 3: Expected an answer in answer, got nothing$/,
  ],
  [
    "blank.jsonl",
    jsonl(GOOD, { ...GOOD, question: "  " }),
    /^blank\.jsonl, line 2: Expected a question in question, got "  "$/,
  ],
  [
    "hashes.jsonl",
    jsonl({ question: "?", answer: "a #### 1" }, { question: "?", answer: "1" }),
    /^hashes\.jsonl, line 2: Expected an answer behind #### in answer, got "1"$/,
  ],
  [
    "columns.jsonl",
    jsonl({ q: "?", a: "1" }),
    /^columns\.jsonl: Expected question and answer, .* got columns q, a in line 1; name the columns: --columns question=q,answer=a \(/,
  ],
  [
    "utf16.jsonl",
    undefined,
    /^Cannot read utf16\.jsonl: it holds zero bytes, as UTF-16 does; save it as UTF-8$/,
  ],
  [
    "latin1.jsonl",
    undefined,
    /^Cannot read latin1\.jsonl: line 2 is no UTF-8; save the file as UTF-8$/,
  ],
  ["nothing.jsonl", "\n\n", /^nothing\.jsonl holds no problem$/],
  ["fields.csv", "id,question,answer\n1,a,b\n2,a,b,c\n", /^Cannot read fields\.csv: .*line 3/],
  ["quote.csv", 'id,question,answer\n1,"a,b\n', /^Cannot read quote\.csv: .*line 2/],
  [
    "cell.csv",
    "id,question,answer\n1,a,b\n2,,c\n",
    /^cell\.csv, row 2: Expected a question in question, got ""$/,
  ],
  [
    "twice.csv",
    "\uFEFFanswer,question,answer\n1,1+1?,2\n",
    /^Cannot read twice\.csv: expected each column's name once in the header, seen "answer" twice; rename or remove one$/,
  ],
  [
    "null.parquet",
    undefined,
    /^null\.parquet, row 3: Expected a question in question, got nothing$/,
  ],
  [
    "dapo.parquet",
    undefined,
    /^dapo\.parquet, row 2: Expected an answer in reward_model\.ground_truth, got an empty list$/,
  ],
  [
    "other.parquet",
    undefined,
    /^other\.parquet: Expected question and answer, .* got columns text in row 1; name the columns: --columns question=text,answer=COLUMN \(/,
  ],
  ["empty.parquet", undefined, /^empty\.parquet holds no problem$/],
  ["cut.parquet", undefined, /^Cannot read cut\.parquet: /],
  ["text.parquet", undefined, /^Cannot read text\.parquet: /],
  ["cut.arrow", undefined, /^Cannot read cut\.arrow: /],
  ...["lz4.arrow", "pandas.feather", "none.feather", "zstd.feather"].map(
    (name) =>
      [
        name,
        undefined,
        /^Cannot read \w+\.\w+: expected uncompressed Arrow data, seen compressed \(.*\); write it uncompressed \(compression="uncompressed"\), or as Parquet$/,
      ] as [string, undefined, RegExp],
  ),
  ["problems.txt", "1+1?", /^problems\.txt ends in \.txt: expected \.jsonl, /],
  ["folder.jsonl", undefined, /^folder\.jsonl does not exist, or is no file/],
])("%s", async (name, content, said) => {
  const message = await refusal(name, content);
  expect(message).toMatch(said);
  expect(message).not.toContain("\n");
});

test("several broken rows are told one a line, the first five of them", async () => {
  const rows = Array.from({ length: 8 }, () => ({ id: "1", question: "?" }));
  const lines = (await refusal("many.jsonl", jsonl(GOOD, ...rows))).split("\n");
  expect(lines).toHaveLength(6);
  expect(lines[4]).toBe("many.jsonl, line 6: Expected an answer in answer, got nothing");
  expect(lines[5]).toBe("… and 3 more");
});

test.each(["as-told.feather", "as-told.arrow"])(
  "what compressed Arrow is told to do works: %s",
  async (name) => {
    expect((await readProblemFile(join(folder, name), null)).problems).toHaveLength(4);
  },
);

test("columns of a CSV without a name may be several: nobody can ask for them", async () => {
  const path = join(folder, "unnamed.csv");
  writeFileSync(path, "question,answer,,\n1+1?,2,,\n");
  expect((await readProblemFile(path, null)).problems).toMatchObject([{ answer: "2" }]);
});
