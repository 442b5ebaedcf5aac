/** Text that wants to be more than text: in problems, ids, tool results and errors. On a page it can do nothing. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { embeddedPolicyFolder } from "@interlace/sampler-clients";
import { escapeText, markup, shownText, toText } from "../../src/view/html/markup.ts";
import { askPython, newFolder, onlyRun, runCli } from "../support/cli.ts";
import { HARMLESS_ATTRIBUTES, HARMLESS_TAGS, readPage, type Page } from "./page.ts";

// Spawned processes share two cores with everything else.
setDefaultTimeout(120_000);

const HOSTILE = [
  `</script><script>alert(1)</script>`,
  `<img src=x onerror="alert(1)">`,
  `"><svg onload=alert(1)>`,
  `' autofocus onfocus=alert(1) x='`,
  "</div></details></main></style><base href=//evil.invalid>",
  "<!-- <![CDATA[ ]]> -->",
  "&lt;b&gt; &#60; &amp;",
  "\u001B[2J\u001B]0;owned\u0007",
  "nul \u0000 cr \r bell \u0007",
  "right \u202Eot tfel\u202C \u2066isolate\u2069 \u200Bzero \uFEFFbom \u{E0041}tag",
  "e\u0301\u0301\u0301\u0301\u0301\u0301 \uFFFE \u2028",
  "javascript:alert(1)",
].join("\n");

/** The policy in the box reads few tokens. */
const HOSTILE_QUESTION = "What is 1 + 1? </script><img src=x onerror=alert(1)>\u202E\u0000";

const cwd = newFolder();
let page: Page;
let source = "";

/** Puts the text into every place of a trajectory that a model, its code or an error can reach. */
const ATTACK = `
import json, sys
import pyarrow as pa
import pyarrow.ipc as ipc
from tokenizers import Tokenizer

path, text, folder = sys.argv[1:4]
text = json.loads(text)
ids = Tokenizer.from_file(folder + "/tokenizer.json").encode(text, add_special_tokens=False).ids
reader = ipc.open_file(pa.BufferReader(open(path, "rb").read()))
schema = reader.schema
batches = [reader.get_batch(i).to_pylist() for i in range(reader.num_record_batches)]
row = batches[0][0]
for name in ("final_answer", "termination", "no_datum", "data_source"):
    row[name] = text
first = row["spans"][0]["length"]
row["tokens"] = row["tokens"][:first] + ids
row["spans"] = [row["spans"][0], {"kind": "sampled", "start": first, "length": len(ids)}]
row["logprobs"] = [float("nan")] + [-1.0] * (len(ids) - 1)
row["turns"] = [{**row["turns"][0], "length": len(ids), "text": text, "finish": text, "parsed": text,
    "invalid_cause": text, "versions": [{"version": text, "start": 0, "end": 1}, {"version": None, "start": 1, "end": 2}]}]
row["tool_calls"] = [{"id": text, "turn": 0, "code": text, "status": text, "exit_code": 1, "signal": text, "limit": None,
    "stdout": text, "stderr": text, "stdout_omitted_bytes": 0, "stderr_omitted_bytes": 3, "content": None,
    "truncated": True, "usage": None}]
row["grade"] = {"kind": "unscored", "answer": text, "by": text, "reason": text, "detail": text}
row["failure"] = {"boundary": text, "cause": text, "detail": text}
row["correct"] = row["reward"] = row["advantage"] = row["valid_format"] = None
with ipc.new_file(path, schema) as writer:
    for rows in batches:
        writer.write_batch(pa.RecordBatch.from_pylist(rows, schema=schema))
print(json.dumps(len(ids)))
`;

beforeAll(async () => {
  const data = join(cwd, "hostile.jsonl");
  const problem = {
    question: HOSTILE_QUESTION,
    answer: HOSTILE,
    id: HOSTILE,
    data_source: HOSTILE,
  };
  writeFileSync(data, `${JSON.stringify(problem)}\n`);
  const args = [
    "--problems",
    "1",
    "--group-size",
    "2",
    "--data",
    data,
    "--columns",
    "question=question,answer=answer,id=id,data_source=data_source",
  ];
  const rolled = await runCli(["rollout", ...args], cwd);
  if (rolled.code !== 0) throw new Error(rolled.stderr);
  const run = onlyRun(join(cwd, "runs"));
  const path = join(run, "step-000000/trajectories.arrow");
  await askPython(ATTACK, [path, JSON.stringify(HOSTILE), embeddedPolicyFolder]);
  const ended = await runCli(["view", run], cwd);
  if (ended.code !== 0) throw new Error(ended.stderr);
  page = await readPage(join(run, "view.html"));
  source = readFileSync(join(run, "view.html"), "utf8");
});
afterAll(() => rmSync(cwd, { recursive: true }));

/** What a reader sees of the text: itself, with the unseen spelled. */
const UNSEEN = String.raw`[\u0000-\u0008\u000b-\u001f\u200b\u202c\u202e\u2028\u2066\u2069\ufeff\ufffe\u{e0041}]`;
const SEEN = HOSTILE.replaceAll(new RegExp(UNSEEN, "gu"), (char) => {
  const code = char.codePointAt(0)!;
  if (code < 256) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code < 65_536 ? `\\u${code.toString(16)}` : `\\u{${code.toString(16)}}`;
});

describe("a run full of hostile text", () => {
  test("makes a page of the same few tags and attributes, each closed", () => {
    expect(page.tags.filter((tag) => !HARMLESS_TAGS.has(tag))).toEqual([]);
    expect(page.attributes.filter((name) => !HARMLESS_ATTRIBUTES.has(name))).toEqual([]);
    expect(page.addresses).toEqual(["#q0", "#q0-t0", "#q0-t1"]);
    expect(page.trajectories).toHaveLength(2);
  });

  test("shows it whole, wherever it stands", () => {
    const [attacked, sibling] = page.trajectories;
    const said = attacked!.tokens.map(({ text, names }) =>
      // Parts of a character: the last one says which.
      names.includes("bytes") ? text.replace(/^[0-9A-F ]+=?/, "") : text,
    );
    expect(said.join("")).toBe(SEEN);
    expect(attacked!.calls).toEqual([{ status: SEEN, code: SEEN, stdout: SEEN, stderr: SEEN }]);
    expect(attacked!.facts["final answer"]).toBe(SEEN);
    expect(attacked!.facts["verdict"]).toContain(SEEN);
    expect(attacked!.kinds).toEqual(["failed"]);
    expect(sibling!.kinds).not.toEqual(["failed"]);
    expect(page.groups[0]!.facts["reference"]).toBe(SEEN);
    expect(page.text.split(SEEN).length).toBeGreaterThan(12);
  });

  test("holds no character that is not seen", () => {
    expect(source).not.toMatch(/(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  });

  test("names the weights of each part of a turn", () => {
    expect(page.text).toContain(`weights ${SEEN} [0, 1), not told [1, 2)`);
  });

  test("is found by --only failed", async () => {
    const run = onlyRun(join(cwd, "runs"));
    await runCli(["view", run, "--only", "failed", "--out", "failed.html"], cwd);
    const { trajectories } = await readPage(join(cwd, "failed.html"));
    expect(trajectories.map(({ id }) => id)).toEqual(["q0-t0"]);
  });

  test("colours a logprob that is no number as broken", () => {
    expect(page.trajectories[0]!.tokens[0]!.names).toContain("broken");
  });

  test("does not steer the terminal either", async () => {
    const run = onlyRun(join(cwd, "runs"));
    const { stdout, stderr } = await runCli(["view", run, "--only", "wrong"], cwd);
    expect(stdout + stderr).not.toContain("\u001B");
  });
});

describe("markup", () => {
  test("any text comes back from a parser as it was, or spelled", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 40 }), (text) => {
        for (const escaped of [escapeText(text), toText(shownText(text))]) {
          const bare = escaped.replaceAll(/<\/?i(?: class="unseen")?>/g, "");
          expect(bare).not.toMatch(/[<>"'`]|&(?!(?:amp|lt|gt|quot|#39|#96);)/);
          expect(bare).not.toMatch(/(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
        }
      }),
    );
  });

  test("a record of the data is never taken for markup", () => {
    const record = JSON.parse('{"markup":"<b>","Symbol(markup)":"<b>"}') as never;
    expect(toText(markup`<p>${record}</p>`)).toBe(
      "<p>{&quot;markup&quot;:&quot;&lt;b&gt;&quot;,&quot;Symbol(markup)&quot;:&quot;&lt;b&gt;&quot;}</p>",
    );
    expect(
      toText(markup`<p>${markup`<i>${"<"}</i>`}${[markup`1`, markup`2`]}${null}${3}</p>`),
    ).toBe("<p><i>&lt;</i>123</p>");
  });
});
