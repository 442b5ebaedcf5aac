/** `interlace eval compare`: tables and plots of results made by hand, and what is refused. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { comparePlot } from "../../src/eval-compare/compare-plot.ts";
import type { Comparison } from "../../src/eval-compare/compare-results.ts";
import { renderPng } from "../../src/plot/render-png.ts";
import { textWidth } from "../../src/plot/svg-text.ts";
import { askPython, newFolder, runCli } from "../support/cli.ts";

// Spawned processes share two cores with everything else.
setDefaultTimeout(120_000);

let folder = "";
beforeAll(() => {
  folder = newFolder();
});
afterAll(() => rmSync(folder, { recursive: true }));

type Change = Readonly<Record<string, unknown>>;

/** Four problems of two generations; `right` counts the right ones of each. */
function result(name: string, right: readonly number[], change: Change = {}): string {
  const problems = right.map((count, i) => ({
    type: "problem",
    problem_id: `p${i}`,
    problem: "1+1?",
    ground_truth: "2",
    val_n: 2,
    num_correct: count,
    pass_at_n: count > 0,
    generations: [0, 1].map((j) => ({
      predicted_answer: "2",
      boxed_answer: "2",
      correct: j < count,
      formatted: true,
      code_calls: 0,
      turns: 1,
      completion_tokens: 3,
      text: "",
    })),
  }));
  const summary = {
    type: "summary",
    dataset: "toy",
    mode: "retool",
    base_model: "m",
    model_path: name,
    temperature: 1,
    top_p: 0.7,
    top_k: null,
    val_n: 2,
    problems: right.length,
    generations: 2 * right.length,
    average_at_n: right.reduce((a, b) => a + b, 0) / (2 * right.length),
    pass_at_n: right.filter((count) => count > 0).length / right.length,
    format_rate: 1,
    mean_code_calls: 0,
    mean_turns: 1,
    correct_generations: 0,
    passed_problems: 0,
    ...change,
  };
  return file(
    `${name}.jsonl`,
    [...problems, summary].map((line) => JSON.stringify(line)).join("\n"),
  );
}

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), `${text}\n`);
  return name;
}

const compare = (...args: readonly string[]) => runCli(["eval", "compare", ...args], folder);

test("a table, paired tests by hand, a plot as SVG and PNG", async () => {
  const files = [result("base", [0, 0, 0, 0]), result("tuned", [1, 2, 2, 2])];
  const { code, stdout } = await compare(...files, "--out", "two", "--json");
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    dataset: "toy",
    val_n: 2,
    problems: 4,
    results: [
      { label: "base", average_at_n: 0, pass_at_n: 0, tests: null },
      {
        label: "tuned",
        average_at_n: 0.875,
        pass_at_n: 1,
        // All four of one sign, and four discordant problems: 2/16 both.
        tests: { average: { difference: 0.875, p: 0.125, method: "exact" }, pass: { p: 0.125 } },
      },
    ],
  });
  const table = readFileSync(join(folder, "two.md"), "utf8");
  expect(table).toContain("| tuned | 87.5% | 100.0% | – | 100.0% | 0 | +87.5%, p = 0.125 |");
  expect(readFileSync(join(folder, "two.svg"), "utf8")).toContain(">87.5%</text>");
  // Python's own reading of the PNG: its signature and size, twice the SVG's.
  const size = (await askPython(
    `
import json, struct, sys
head = open(sys.argv[1], "rb").read(24)
assert head[:8] == b"\\x89PNG\\r\\n\\x1a\\n"
print(json.dumps(struct.unpack(">II", head[16:24])))
`,
    [join(folder, "two.png")],
  )) as readonly number[];
  const [, width, height] =
    /width="(\d+)" height="(\d+)"/.exec(readFileSync(join(folder, "two.svg"), "utf8")) ?? [];
  expect(size).toEqual([2 * Number(width), 2 * Number(height)]);
});

describe("refused", () => {
  test.each([
    ["temperature", 0.6, 1, "eval.temperature"],
    ["top_p", 1, 0.7, "eval.top_p"],
    ["top_k", 20, null, "eval.top_k"],
    ["dataset", "other", "toy", "data set (--dataset, --data)"],
    ["grader", "aime_integer", "math_verify", "grading.grader"],
    ["seed", 7, 42, "--seed"],
    ["max_code_calls", 4, 2, "rollout.max_code_calls"],
    ["prompt_sha256", "ab".repeat(32), "cd".repeat(32), "protocol.system_prompt"],
  ])("other settings: %s", async (field, value, its, setting) => {
    const one = result("one", [1, 1], { [field]: its });
    const { code, stderr } = await compare(one, result("two", [1, 1], { [field]: value }));
    expect(code).toBe(2);
    const [a, b] = [its, value].map((each) =>
      String(each).length === 64 ? `${String(each).slice(0, 12)}…` : JSON.stringify(each),
    );
    expect(stderr).toContain(`${field} is ${a} in one.jsonl and ${b} in two.jsonl: `);
    expect(stderr).toContain(`evaluate one of them again with the same ${setting}\n`);
  });

  test("what a mode has for itself may differ from the other mode's", async () => {
    const one = result("retool", [1, 1], { max_code_calls: 4, checkpoint: "m" });
    const two = result("text", [1, 1], { mode: "text-only", max_code_calls: 0, checkpoint: "m" });
    const { code, stdout } = await compare(one, two, "--out", "modes");
    expect(code).toBe(0);
    expect(stdout).toContain("| m (retool) |");
    expect(stdout).toContain("| m (text-only) |");
  });

  test("bad JSON by file and line", async () => {
    const good = readFileSync(join(folder, result("good", [1, 1])), "utf8").split("\n");
    const bad = file("bad.jsonl", [good[0], '{"type": "problem",', good[2]].join("\n"));
    const { code, stderr } = await compare(bad);
    expect(code).toBe(2);
    expect(stderr).toContain("bad.jsonl, line 2 is no JSON");
  });

  test("a field of another type by file, line and field", async () => {
    const good = readFileSync(join(folder, result("good", [1, 1])), "utf8").split("\n");
    const bad = file(
      "typed.jsonl",
      [good[0]?.replace('"val_n":2', '"val_n":"2"'), ...good.slice(1)].join("\n"),
    );
    expect((await compare(bad)).stderr).toContain("typed.jsonl, line 1: val_n: ");
  });

  test("a missing summary, missing lines, other problems, one file twice, no file", async () => {
    const name = result("whole", [1, 1]);
    const lines = readFileSync(join(folder, name), "utf8").trimEnd().split("\n");
    const open = await compare(file("open.jsonl", lines.slice(0, 2).join("\n")));
    expect(open.code).toBe(2);
    expect(open.stderr).toContain(
      "open.jsonl has no summary: its evaluation did not end (2 problems",
    );
    const short = await compare(file("short.jsonl", lines.slice(1).join("\n")));
    expect(short.stderr).toContain("short.jsonl holds 1 problems, its summary says 2");
    const renamed = lines.map((line) => line.replace('"p1"', '"q1"')).join("\n");
    const other = await compare(name, file("other.jsonl", renamed));
    expect(other.stderr).toContain("Problem 2 is p1 in whole.jsonl and q1 in other.jsonl");
    expect((await compare(name, name)).stderr).toContain("whole.jsonl is named twice");
    expect((await compare("none.jsonl")).stderr).toContain("There is no file none.jsonl");
    expect(existsSync(join(folder, "evals"))).toBe(false);
  });
});

test("a folder is no results file, and the ones in it are named", async () => {
  const good = result("beside", [1, 1]);
  mkdirSync(join(folder, "evals-of-today"));
  const empty = await compare(good, "evals-of-today");
  expect(empty).toMatchObject({ code: 2 });
  expect(empty.stderr).toContain("evals-of-today is a folder and no results file, and no .jsonl");
  for (const name of ["b.jsonl", "a.jsonl", "a.svg"]) file(`evals-of-today/${name}`, "");
  const { code, stderr } = await compare(good, "evals-of-today");
  expect(code).toBe(2);
  expect(stderr).toContain(
    "evals-of-today is a folder and no results file: name one of evals-of-today/a.jsonl, evals-of-today/b.jsonl\n",
  );
  expect(stderr).not.toContain("bug of Interlace");
});

const figure = fc
  .record({
    value: fc.double({ min: 0, max: 1, noNaN: true }),
    error: fc.double({ min: 0, max: 0.3, noNaN: true }),
  })
  .map(({ value, error }) => ({ value, standardError: error }));
const comparison = fc
  .array(
    fc.record({
      label: fc.string({ minLength: 1, maxLength: 60 }),
      average: figure,
      pass: figure,
      format: figure,
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((results): Comparison => ({
    dataset: "toy",
    valN: 12,
    problems: 30,
    results: results.map((each) => ({
      ...each,
      path: "",
      majority: null,
      unscored: 0,
      tests: null,
    })),
  }));

test("no label of the plot is cut or meets another, from 1 to 12 results", () => {
  fc.assert(
    fc.property(comparison, (each) => {
      const { width, height, boxes } = layOut(comparePlot(each));
      for (const [i, box] of boxes.entries()) {
        expect(box.left).toBeGreaterThanOrEqual(0);
        expect(box.right).toBeLessThanOrEqual(width);
        expect(box.top).toBeGreaterThanOrEqual(0);
        expect(box.bottom).toBeLessThanOrEqual(height);
        for (const other of boxes.slice(i + 1)) {
          if (box.slanted || other.slanted) continue;
          const apart =
            box.right <= other.left ||
            other.right <= box.left ||
            box.bottom <= other.top ||
            other.bottom <= box.top;
          if (!apart) throw new Error(`${box.text} meets ${other.text}`);
        }
      }
    }),
    { numRuns: 60 },
  );
});

test("a label that is no plain text stays valid XML and renders", async () => {
  const labels = ['<&">', "\u0000\u0007", "模型", "\ud800"];
  const results = labels.map((label) => {
    const value = { value: 0.5, standardError: 0.1 };
    return {
      label,
      path: "",
      average: value,
      pass: value,
      format: value,
      majority: null,
      unscored: 0,
      tests: null,
    };
  });
  const png = await renderPng(comparePlot({ dataset: "a<b", valN: 2, problems: 1, results }));
  expect(png.length).toBeGreaterThan(1000);
});

type Box = {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  readonly slanted: boolean;
};

/** Where each text of the picture lies; of a slanted one its far end. */
function layOut(svg: string): { width: number; height: number; boxes: readonly Box[] } {
  const [, width = "", height = ""] = /width="(\d+)" height="(\d+)"/.exec(svg) ?? [];
  const boxes: Box[] = [];
  for (const [, head = "", content = ""] of svg.matchAll(/<text ([^>]*)>([^<]*)<\/text>/g)) {
    const value = (name: string): string => new RegExp(`${name}="([^"]*)"`).exec(head)?.[1] ?? "";
    const [x, y, size] = [Number(value("x")), Number(value("y")), Number(value("font-size"))];
    const text = content.replaceAll(/&\w+;/g, "W");
    const wide = textWidth(text, size);
    const turn = /rotate\((-?\d+)/.exec(head)?.[1];
    if (turn !== undefined) {
      const angle = (Math.abs(Number(turn)) * Math.PI) / 180;
      const left = x - wide * Math.cos(angle);
      boxes.push({
        text,
        left,
        right: x,
        top: y - size,
        bottom: y + wide * Math.sin(angle),
        slanted: true,
      });
      continue;
    }
    const anchor = value("text-anchor");
    const left = anchor === "middle" ? x - wide / 2 : anchor === "end" ? x - wide : x;
    // DejaVu Sans: 0.76 em above the line and 0.24 below, for digits and Latin letters.
    boxes.push({
      text,
      left,
      right: left + wide,
      top: y - 0.76 * size,
      bottom: y + 0.24 * size,
      slanted: false,
    });
  }
  return { width: Number(width), height: Number(height), boxes };
}
