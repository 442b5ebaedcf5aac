/** `interlace view`: what Python's HTML parser reads in a page of a real run is what pyarrow reads in its files. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { embeddedPolicyFolder } from "@interlace/sampler-clients";
import { askPythonFile, newFolder, onlyRun, runCli } from "../support/cli.ts";
import { HARMLESS_ATTRIBUTES, HARMLESS_TAGS, readPage, type Page } from "./page.ts";

// Spawned processes share two cores with everything else.
setDefaultTimeout(120_000);

const cwd = newFolder();
let run = "";
let page: Page;
beforeAll(async () => {
  const size = ["--problems", "4", "--group-size", "4", "--seed", "7", "--steps", "2"];
  await runCli(["rollout", ...size], cwd);
  run = onlyRun(join(cwd, "runs"));
  page = await view();
});
afterAll(() => rmSync(cwd, { recursive: true }));

/** The page that these flags make. */
async function view(...flags: readonly string[]): Promise<Page> {
  const ended = await runCli(["view", run, "--out", "page.html", ...flags], cwd);
  expect(ended).toMatchObject({ code: 0, stderr: "" });
  return readPage(join(cwd, "page.html"));
}

function copyRun(name: string): string {
  const copy = join(cwd, name);
  cpSync(run, copy, { recursive: true });
  return copy;
}

type Expected = {
  readonly trajectories: readonly {
    readonly id: string;
    readonly verdict: string;
    readonly truncated: boolean;
    readonly text: string;
    readonly tokens: readonly {
      readonly title: string;
      readonly mask: number;
      readonly scale: string | null;
      readonly band: string | null;
      readonly read: boolean;
    }[];
    readonly calls: readonly object[];
    readonly facts: Readonly<Record<string, string>>;
  }[];
  readonly groups: readonly Readonly<Record<string, string>>[];
};

async function recompute(step: number): Promise<Expected> {
  const script = join(import.meta.dir, "recompute.py");
  return (await askPythonFile(script, [run, String(step), embeddedPolicyFolder])) as Expected;
}

describe("the page of a run", () => {
  test("shows every token of every trajectory, with the learner's mask and advantage", async () => {
    const { trajectories } = await recompute(1);
    expect(page.trajectories.map(({ id }) => id)).toEqual(trajectories.map(({ id }) => id));
    expect(trajectories).toHaveLength(16);
    for (const [i, { text, tokens }] of trajectories.entries()) {
      const seen = page.trajectories[i]!.tokens;
      expect(seen.map((token) => token.text).join("")).toBe(text);
      expect(seen).toHaveLength(tokens.length);
      for (const [j, { title, mask, scale, band, read }] of tokens.entries()) {
        const token = seen[j]!;
        expect(token.title.startsWith(title)).toBe(true);
        const state = mask === 1 ? "trained" : read ? "read" : "untrained";
        expect(token.run).toEqual(scale === null ? [state] : [state, scale]);
        expect(token.names.filter((name) => name !== "added")).toEqual(band === null ? [] : [band]);
      }
    }
    const runs = page.trajectories.flatMap(({ tokens }) => tokens.map((token) => token.run[0]));
    expect(new Set(runs)).toEqual(new Set(["read", "trained", "untrained"]));
  });

  test("shows outcomes, tool calls and groups as the files have them", async () => {
    const { trajectories, groups } = await recompute(1);
    for (const [i, want] of trajectories.entries()) {
      const { facts, kinds, calls } = page.trajectories[i]!;
      expect(facts).toMatchObject(want.facts);
      expect(kinds).toEqual([want.verdict, ...(want.truncated ? ["truncated"] : [])]);
      expect(
        calls.map(({ stdout, stderr, code, status }) => ({ status, code, stdout, stderr })),
      ).toEqual(want.calls as never);
    }
    expect(trajectories.flatMap(({ calls }) => calls).length).toBeGreaterThan(5);
    for (const [i, want] of groups.entries()) expect(page.groups[i]!.facts).toMatchObject(want);
    expect(groups).toHaveLength(4);
  });

  test("knows the reference answers, and a right one is the one that was judged equal", () => {
    for (const { facts, kinds } of page.trajectories) {
      expect(facts["reference"]).toMatch(/^-?\d+$/);
      if (kinds[0] === "right") expect(facts["final answer"]).toBe(facts["reference"]);
      else if (facts["final answer"] !== "none") {
        expect(facts["final answer"]).not.toBe(facts["reference"]);
      }
    }
    const verdicts = page.trajectories.map(({ kinds }) => kinds[0]);
    expect(new Set(verdicts)).toEqual(new Set(["right", "wrong"]));
  });

  test("begins with the run, its last step, metrics, ledger and the other steps", () => {
    const metrics = readFileSync(join(run, "metrics.jsonl"), "utf8").trimEnd().split("\n");
    const [first, last] = metrics.map((line) => JSON.parse(line) as Record<string, number>);
    expect(page.text).toContain("Step 1");
    expect(page.text).toContain("Also in this run: step 0; --step N shows one.");
    for (const line of [first!, last!]) {
      expect(page.text).toContain(line["reward/mean"]!.toFixed(4));
    }
    expect(page.text).toContain("train/tokens_per_rollout_batch");
    const ledger = JSON.parse(readFileSync(join(run, "step-000001/ledger.json"), "utf8")) as {
      readonly sampled_tokens: { readonly total: number };
    };
    expect(page.text).toMatch(new RegExp(`asked for\\s+16\\s+${ledger.sampled_tokens.total}\\s`));
    expect(page.text).toContain("embedded, interlace-embedded");
    expect(page.text).toContain("7 (hashed)");
  });

  test("needs nothing else: no script, no address but its own parts, a policy that allows its own style only", () => {
    expect(page.tags.filter((tag) => !HARMLESS_TAGS.has(tag))).toEqual([]);
    expect(page.attributes.filter((name) => !HARMLESS_ATTRIBUTES.has(name))).toEqual([]);
    const missing = page.addresses.filter((address) => !page.ids.includes(address.slice(1)));
    expect(missing).toEqual([]);
    expect(page.addresses).toContain("#q0");
    const hash = new Bun.CryptoHasher("sha256").update(page.style).digest("base64");
    expect(page.policy).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`,
    );
    expect(page.style).not.toMatch(/url\(|@import/);
    expect(page.checked).toEqual(["by-logprob", "show-all"]);
  });

  test("is the same page each time", async () => {
    await view();
    const once = readFileSync(join(cwd, "page.html"));
    await view();
    expect(readFileSync(join(cwd, "page.html")).equals(once)).toBe(true);
  });
});

describe("flags", () => {
  test("without any, the page lies in the run folder and the command says what it holds", async () => {
    const ended = await runCli(["view", run], cwd);
    const path = join(run, "view.html");
    expect(ended.stdout).toStartWith(`view     ${path}: step 1, 16 of 16 trajectories, `);
    expect(ended.stdout.split("\n")).toHaveLength(2);
    expect((await readPage(path)).trajectories).toHaveLength(16);
  });

  test("--runs finds a run by its id, --json says it for programs", async () => {
    const id = run.split("/").at(-1) as string;
    const ended = await runCli(
      ["view", id, "--runs", join(cwd, "runs"), "--out", "id.html", "--json"],
      cwd,
    );
    expect(JSON.parse(ended.stdout)).toEqual({
      view: join(cwd, "id.html"),
      bytes: readFileSync(join(cwd, "id.html")).length,
      step: 1,
      trajectories: 16,
      chosen: 16,
      shown: 16,
      tokens: true,
      open_steps: [],
    });
  });

  test("--step shows another step", async () => {
    const other = await view("--step", "0");
    const { trajectories } = await recompute(0);
    const texts = other.trajectories.map(({ tokens }) => tokens.map(({ text }) => text).join(""));
    expect(texts).toEqual(trajectories.map(({ text }) => text));
    expect(other.text).toContain("Also in this run: step 1");
  });

  test("--question shows one problem", async () => {
    const one = await view("--question", "2");
    expect(one.trajectories.map(({ id }) => id)).toEqual(["q2-t0", "q2-t1", "q2-t2", "q2-t3"]);
    expect(one.groups).toHaveLength(1);
    expect(one.trajectories.every(({ open }) => open)).toBe(true);
  });

  test.each(["right", "wrong", "failed", "truncated"])(
    "--only %s shows those alone",
    async (kind) => {
      const some = await view("--only", kind);
      const wanted = page.trajectories.filter(({ kinds }) => kinds.includes(kind));
      expect(some.trajectories.map(({ id }) => id)).toEqual(wanted.map(({ id }) => id));
      if (wanted.length === 0) expect(some.text).toContain(`None of 16 is ${kind}.`);
      // The whole group is told of, whoever of it is shown.
      for (const { facts } of some.groups) expect(facts["right"]).toEndWith("of 4");
    },
  );

  test("--only truncated finds turns that were cut at their limit", async () => {
    const args = ["rollout", "--problems", "1", "--group-size", "2", "--out", "cut"];
    await runCli(args, cwd, { INTERLACE_ROLLOUT_MAX_ASSISTANT_TOKENS: "2" });
    const cut = onlyRun(join(cwd, "cut"));
    const { stdout } = await runCli(["view", cut, "--only", "truncated"], cwd);
    expect(stdout).toContain("2 of 2 truncated trajectories");
    const { trajectories } = await readPage(join(cut, "view.html"));
    expect(trajectories.map(({ kinds }) => kinds)).toEqual([
      ["wrong", "truncated"],
      ["wrong", "truncated"],
    ]);
    for (const { tokens } of trajectories) expect(tokens).toHaveLength(2);
  });

  test("--limit shows the first ones, and page and command say how to see the rest", async () => {
    const some = await view("--limit", "5");
    expect(some.trajectories.map(({ id }) => id)).toEqual(
      page.trajectories.slice(0, 5).map(({ id }) => id),
    );
    const line = "11 more are not shown; --limit 16 shows all, --question N those of one problem";
    expect(some.text.split(line)).toHaveLength(3);
    expect(some.addresses).toEqual([
      "#q0",
      "#q0-t0",
      "#q0-t1",
      "#q0-t2",
      "#q0-t3",
      "#q1",
      "#q1-t0",
    ]);
    const { stdout } = await runCli(["view", run, "--limit", "5"], cwd);
    expect(stdout).toContain(`left     ${line}\n`);
  });
});

describe("without what it would like to have", () => {
  test("an interrupted step is told of, and its run's whole steps are shown", async () => {
    const copy = copyRun("interrupted");
    mkdirSync(join(copy, "step-000002"));
    renameSync(join(copy, "step-000001/events.jsonl"), join(copy, "step-000002/events.jsonl"));
    expect((await runCli(["view", copy], cwd)).code).toBe(0);
    const { text } = await readPage(join(copy, "view.html"));
    expect(text).toContain(
      "Interrupted or under way: step 2; it has a log and no Arrow files yet;",
    );
    const asked = await runCli(["view", copy, "--step", "2"], cwd);
    expect(asked.code).toBe(2);
    expect(asked.stderr).toContain(
      `Step 2 of ${copy} was interrupted or is under way: it has a log and no trajectories.arrow yet; rollout --resume ${copy} goes on with it, steps 0–1 can be viewed`,
    );
    for (const step of ["step-000000", "step-000001"]) {
      rmSync(join(copy, step, "trajectories.arrow"));
    }
    const none = await runCli(["view", copy], cwd);
    expect(none.code).toBe(2);
    expect(none.stderr).toContain("has only the open step 0, 1, 2");
  });

  test("without a tokenizer, recorded texts are shown and the page says why", async () => {
    const copy = copyRun("moved");
    const record = join(copy, "run.json");
    const text = readFileSync(record, "utf8");
    const named = text.replace(
      '"sampler.tokenizer": null',
      `"sampler.tokenizer": ${JSON.stringify(join(cwd, "gone"))}`,
    );
    expect(named).not.toBe(text);
    writeFileSync(record, named);
    const { code, stdout } = await runCli(["view", copy], cwd);
    expect(code).toBe(0);
    expect(stdout).toContain("tokens   not shown: Expected --tokenizer to be a folder");
    const plain = await readPage(join(copy, "view.html"));
    expect(plain.text).toContain(
      "Texts are shown as they were recorded, without tokens and colours: Expected --tokenizer to be a folder",
    );
    expect(plain.trajectories.flatMap(({ tokens }) => tokens)).toEqual([]);
    expect(plain.trajectories.every((each) => each.plain.length > 0)).toBe(true);
    expect(plain.trajectories.map(({ facts }) => facts["reward"])).toEqual(
      page.trajectories.map(({ facts }) => facts["reward"]),
    );

    const found = await runCli(["view", copy, "--tokenizer", embeddedPolicyFolder], cwd);
    expect(found).toMatchObject({ code: 0, stderr: "" });
    const again = await readPage(join(copy, "view.html"));
    expect(again.trajectories.map(({ tokens }) => tokens)).toEqual(
      page.trajectories.map(({ tokens }) => tokens),
    );
  });

  test("a redacted copy says that its texts are gone", async () => {
    const copy = join(cwd, "redacted");
    await runCli(["replay", run, "--redact", copy], cwd);
    expect(await runCli(["view", copy], cwd)).toMatchObject({ code: 0, stderr: "" });
    const { text, trajectories } = await readPage(join(copy, "view.html"));
    expect(text).toContain("the run is redacted: its texts are gone");
    expect(trajectories[0]!.plain[0]).toMatch(/^x+$/);
    expect(trajectories[0]!.facts["reference"]).toBe("not known");
  });

  test("a changed data file costs the reference answers alone", async () => {
    const data = join(cwd, "data.jsonl");
    const line = { question: "What is 2 + 3?", answer: "5", id: "sum" };
    writeFileSync(data, `${JSON.stringify(line)}\n`);
    const args = ["--problems", "1", "--group-size", "2", "--data", data, "--out", "own"];
    await runCli(["rollout", ...args], cwd);
    const own = onlyRun(join(cwd, "own"));
    await runCli(["view", own], cwd);
    const before = await readPage(join(own, "view.html"));
    expect(before.groups[0]!.facts["reference"]).toBe("5");
    writeFileSync(data, `${JSON.stringify({ ...line, answer: "6" })}\n`);
    await runCli(["view", own], cwd);
    const after = await readPage(join(own, "view.html"));
    expect(after.groups[0]!.facts["reference"]).toBe("not known");
    expect(after.text).toContain("has changed since the run was started");
  });
});

describe("wrong use", () => {
  const BYTES = join(import.meta.dir, "../../../../vectors/byte-tokenizer");
  const refusals: readonly (readonly [
    what: string,
    args: () => readonly string[],
    line: string,
  ])[] = [
    ["a run that is not there", () => ["gone"], "There is no run at "],
    ["a step that is not there", () => [run, "--step", "9"], "There is no step 9 in "],
    [
      "a question that is not there",
      () => [run, "--question", "9"],
      "Step 1 has no question 9: it has 4, from 0 to 3",
    ],
    ["no number", () => [run, "--step", "last"], 'expected an integer of at least 0, seen "last"'],
    [
      "a limit of nothing",
      () => [run, "--limit", "0"],
      'expected an integer of at least 1, seen "0"',
    ],
    ["a kind that is none", () => [run, "--only", "bad"], "bad"],
    [
      "another tokenizer",
      () => [run, "--tokenizer", BYTES],
      `${BYTES} is not the run's tokenizer: expected SHA-256 `,
    ],
    ["a folder as the file", () => [run, "--out", run], "is a folder: expected the name of a file"],
    [
      "a file as the run",
      () => [join(run, "step-000001/trajectories.arrow")],
      ": interlace view RUN --step 1",
    ],
  ];

  test.each(refusals)(
    "%s is refused in one line, and no page is written",
    async (_, args, line) => {
      rmSync(join(run, "view.html"), { force: true });
      const { code, stdout, stderr } = await runCli(["view", ...args()], cwd);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain(line.replace("RUN", run));
      expect(stderr.trimEnd().split("\n")).toHaveLength(1);
      expect(existsSync(join(run, "view.html"))).toBe(false);
    },
  );

  test("a damaged file is named, and a folder that is not there", async () => {
    const copy = copyRun("damaged");
    writeFileSync(join(copy, "step-000001/datums.arrow"), "no Arrow");
    const damaged = await runCli(["view", copy], cwd);
    expect(damaged.code).toBe(1);
    expect(damaged.stderr).toContain(`Cannot read ${join(copy, "step-000001/datums.arrow")}: `);
    const nowhere = await runCli(["view", run, "--out", "no/such/page.html", "--json"], cwd);
    expect(nowhere.code).toBe(1);
    expect(JSON.parse(nowhere.stdout)).toMatchObject({ error: { exit_code: 1 } });
    expect(nowhere.stderr).toContain("the folder does not exist");
  });
});
