/** `interlace export sft`: what pyarrow, polars and pandas read is what the trajectories hold. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { askPython, newFolder, onlyRun, runCli, type Ended } from "../support/cli.ts";

// Spawned processes share two cores with everything else.
setDefaultTimeout(120_000);

let folder = "";
let run = "";
let ended: Ended;
beforeAll(async () => {
  folder = newFolder();
  await runCli(["rollout", "--problems", "6", "--group-size", "6", "--seed", "7"], folder);
  run = onlyRun(join(folder, "runs"));
  ended = await runCli(["export", "sft", run, "--json"], folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The same choice again, from the table. */
const ORACLE = `
import json, sys
import pandas as pd
import polars as pl
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

run = sys.argv[1]
rows = ipc.open_file(run + "/step-000000/trajectories.arrow").read_all().to_pylist()
seen, wanted = set(), []
for row in rows:
    whole = row["termination"] == "answer" and row["turns"][-1]["finish"] == "stop"
    key = json.dumps([[m["role"], m["content"]] for m in row["messages"]])
    if row["correct"] and whole and key not in seen:
        seen.add(key)
        wanted.append(row)
lines = [json.loads(line) for line in open(run + "/sft.jsonl", encoding="utf-8")]
table = pq.read_table(run + "/sft.parquet").to_pylist()
polars = pl.read_parquet(run + "/sft.parquet").to_dicts()
pandas = pd.read_parquet(run + "/sft.parquet")
assert len(wanted) == len(lines) == len(table) == len(polars) == len(pandas)
for want, line, row, other, (_, third) in zip(wanted, lines, table, polars, pandas.iterrows()):
    assert row == other
    messages = [{"tool_call_id": None, "name": None, **m} for m in line["messages"]]
    assert row["messages"] == messages, (row["messages"], messages)
    assert [dict(m) for m in third["messages"]] == messages
    assert [m["content"] for m in messages] == [m["content"] for m in want["messages"]]
    assert [m["role"] for m in messages] == [m["role"] for m in want["messages"]]
    assert json.loads(row["tools"]) == line["tools"]
    for name in ("problem_id", "step", "question_index", "group_index", "reward", "final_answer"):
        assert row[name] == line[name] == want[name] == third[name], name
roles = sorted({m["role"] for line in lines for m in line["messages"]})
print(json.dumps({"kept": len(lines), "trajectories": len(rows), "roles": roles}))
`;

test("what three libraries read is what the trajectories hold", async () => {
  expect(ended.code).toBe(0);
  const seen = (await askPython(ORACLE, [run])) as Readonly<Record<string, unknown>>;
  expect(seen["roles"]).toEqual(["assistant", "system", "tool", "user"]);
  expect(seen["kept"]).toBeGreaterThan(3);
  const counts = JSON.parse(ended.stdout) as Readonly<Record<string, number>>;
  expect(counts["kept"]).toBe(seen["kept"] as number);
  const {
    trajectories = 0,
    kept = 0,
    wrong = 0,
    unscored = 0,
    unfinished = 0,
    doubles = 0,
  } = counts;
  expect(trajectories).toBe(36);
  expect(kept + wrong + unscored + unfinished + doubles).toBe(36);
});

test("no more of one problem than asked for", async () => {
  const args = ["export", "sft", run, "--per-problem", "1", "--out", "one/each"];
  const { code, stdout } = await runCli(args, folder);
  expect(code).toBe(0);
  expect(stdout).toContain("over --per-problem");
  const ids = readFileSync(join(folder, "one/each.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { readonly problem_id: string }).problem_id);
  expect(new Set(ids).size).toBe(ids.length);
});

test("a run without right trajectories exports nothing, and says of what it consists", async () => {
  const args = ["rollout", "--problems", "1", "--group-size", "2", "--out", "wrong"];
  await runCli(args, folder, { INTERLACE_ROLLOUT_MAX_ASSISTANT_TOKENS: "2" });
  const wrong = onlyRun(join(folder, "wrong"));
  const { code, stderr } = await runCli(["export", "sft", wrong], folder);
  expect(code).toBe(2);
  expect(stderr).toContain("2 trajectories = 0 exported + 2 wrong");
  expect(existsSync(join(wrong, "sft.jsonl"))).toBe(false);
});
