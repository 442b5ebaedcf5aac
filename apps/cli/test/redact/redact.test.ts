/** A copy for a bug report: nothing that was said is in it, and what was wrong is still wrong. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { askPython, askPythonFile, newFolder, onlyRun, runCli } from "../support/cli.ts";

// Spawned processes share two cores with everything else.
setDefaultTimeout(120_000);

const cwd = newFolder();
const copy = join(cwd, "copy");
let run = "";
beforeAll(async () => {
  await runCli(["rollout", "--problems", "3", "--group-size", "4", "--out", "runs"], cwd);
  run = onlyRun(join(cwd, "runs"));
  expect(await runCli(["replay", run, "--redact", copy], cwd)).toMatchObject({ code: 0 });
});

/** What was said, as pyarrow reads it, and every sampled turn's ids as the log writes them. */
const TEXTS = `
import base64, json, struct, sys
import pyarrow.ipc as ipc
run = sys.argv[1]
said = set()
for row in ipc.open_file(run + "/step-000000/trajectories.arrow").read_all().to_pylist():
    said.add(row["problem_id"])
    for message in row["messages"]:
        said.add(message["content"])
    for turn in row["turns"]:
        said.add(turn["text"])
    for call in row["tool_calls"]:
        said.update([call["code"], call["stdout"], call["stderr"], call["content"] or ""])
    ids = row["tokens"]
    for i in range(0, len(ids) - 4, 4):
        said.add(base64.b64encode(struct.pack("<4i", *ids[i : i + 4])).decode()[:20])
words = {word for text in said for word in [text.strip(), *text.split("\\n")] if len(word) >= 6}
json.dump(sorted(words), sys.stdout)
`;

test("no text, no path and no ids of it are in any file", async () => {
  const said = (await askPython(TEXTS, [run])) as string[];
  expect(said.length).toBeGreaterThan(50);
  const files = readdirSync(copy, { recursive: true, encoding: "utf8" })
    // A refused resume leaves the file of its lock.
    .filter((name) => name !== ".lock")
    .map((name) => join(copy, name))
    .filter((path) => statSync(path).isFile());
  expect(files).toHaveLength(6);
  for (const path of files) {
    const bytes = readFileSync(path, "latin1");
    expect(said.filter((text) => bytes.includes(text))).toEqual([]);
    expect(bytes).not.toContain(cwd);
  }
  // The texts were there to be found.
  const log = readFileSync(join(run, "step-000000/trajectories.arrow"), "latin1");
  expect(said.filter((text) => log.includes(text)).length).toBeGreaterThan(20);
});

const SHAPE = `
import json, sys
import pyarrow.ipc as ipc
out = {}
for name in ("datums", "trajectories"):
    rows = ipc.open_file(sys.argv[1] + "/step-000000/" + name + ".arrow").read_all().to_pylist()
    out[name] = [
        {k: (len(v.encode()) if isinstance(v, str) and k in ("problem_id", "data_source", "final_answer") else v)
         for k, v in row.items() if k not in ("tokens", "input_tokens", "target_tokens", "messages", "turns", "tool_calls", "grade")}
        | {"lengths": [len(v) if isinstance(v := row.get(k), list) else v for k in ("tokens", "input_tokens", "target_tokens", "messages", "turns", "tool_calls")],
           "texts": [len(m["content"].encode()) for m in row.get("messages", [])],
           "ends": [(t["prompt_length"], t["length"], t["finish"]) for t in row["turns"]] if name == "trajectories" else None}
        for row in rows
    ]
json.dump(out, sys.stdout)
`;

test("numbers, ends and the length of every text stay", async () => {
  expect(await askPython(SHAPE, [copy])).toEqual(await askPython(SHAPE, [run]));
});

const SAME_WORDS = `
import json, sys
from collections import defaultdict
import pyarrow.ipc as ipc
def tokens(run):
    return [row["tokens"] for row in ipc.open_file(run + "/step-000000/trajectories.arrow").read_all().to_pylist()]
became = defaultdict(set)
for before, after in zip(tokens(sys.argv[1]), tokens(sys.argv[2])):
    for x, y in zip(before, after):
        became[x].add(y)
counts = sorted(len(after) for after in became.values())
json.dump({"median": counts[len(counts) // 2], "most": counts[-1]}, sys.stdout)
`;

test("one id becomes another one at every place: counting gives nothing away", async () => {
  const { most } = (await askPython(SAME_WORDS, [run, copy])) as { most: number };
  expect(most).toBeGreaterThan(20);
});

describe("the copy", () => {
  test("passes verify, which says what it cannot check", async () => {
    const { code, stdout } = await runCli(["verify", copy, "--json"], cwd);
    expect(code).toBe(0);
    const report = JSON.parse(stdout) as {
      skipped: Record<string, string>;
      checked: Record<string, number>;
    };
    expect(Object.keys(report.skipped).toSorted()).toEqual([
      "event_log",
      "grade",
      "template",
      "text",
    ]);
    expect(report.checked["prefix"]).toBeGreaterThan(10);
  });

  test("cannot go on, cannot be replayed, is not written over", async () => {
    const resumed = await runCli(["rollout", "--resume", copy], cwd);
    expect(resumed).toMatchObject({
      code: 2,
      stderr: `interlace: ${copy} is a redacted copy: it cannot go on\n`,
    });
    expect((await runCli(["replay", copy], cwd)).stderr).toContain("cannot be stepped again");
    expect((await runCli(["replay", run, "--redact", copy], cwd)).stderr).toContain(
      "is there already",
    );
  });
});

test("what is wrong with a run is wrong with its copy, by the same rule", async () => {
  const damaged = newFolder();
  await askPythonFile(join(import.meta.dir, "../verify/damage.py"), [run, damaged]);
  const kinds: Readonly<Record<string, string>> = {
    one_target_token: "shift",
    logprob_other: "mask_sampled",
    prompt_length: "prefix",
    id_over_vocabulary: "ids_in_vocab",
    ledger_stale: "ledger",
  };
  for (const [kind, rule] of Object.entries(kinds)) {
    const target = join(cwd, kind);
    await runCli(["replay", join(damaged, kind), "--redact", target], cwd);
    const { code, stdout } = await runCli(["verify", target, "--json"], cwd);
    expect(code).toBe(1);
    expect(
      Object.keys((JSON.parse(stdout) as { failed: Record<string, number> }).failed),
    ).toContain(rule);
  }
});
