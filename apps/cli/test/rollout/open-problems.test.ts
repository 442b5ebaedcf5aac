/** Which problems a run meets, and in which order: one file, several in shares, and what is left out. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openProblems } from "../../src/rollout/open-problems.ts";
import { configWith } from "../support/config.ts";
import { newFolder } from "../support/cli.ts";

let folder = "";
beforeAll(() => {
  folder = newFolder();
});
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, questions: readonly string[]): string {
  const path = join(folder, name);
  const lines = questions.map((question) =>
    JSON.stringify({ id: question, question, answer: "1" }),
  );
  writeFileSync(path, `${lines.join("\n")}\n`);
  return path;
}

const idsOf = async (data: Readonly<Record<string, unknown>>) => {
  const { problems } = await openProblems(configWith({ data }));
  return problems.map(({ id }) => id);
};

describe("a mixture", () => {
  test("two to one, the same in every call", async () => {
    const mixture = [
      { path: file("a.jsonl", ["a1", "a2", "a3", "a4"]), weight: 2 },
      { path: file("b.jsonl", ["b1"]) },
    ];
    const wanted = ["a1", "b1", "a2", "a3", "b1", "a4"];
    expect(await idsOf({ mixture })).toEqual(wanted);
    expect(await idsOf({ mixture })).toEqual(wanted);
  });

  test("parts are shuffled, each by itself: the shares stay", async () => {
    const [left, right] = ["l", "r"].map((name) =>
      file(
        `${name}.jsonl`,
        Array.from({ length: 20 }, (_, i) => `${name}${i}`),
      ),
    );
    const ids = await idsOf({ mixture: [{ path: left }, { path: right }], shuffle: "python" });
    expect(ids).toHaveLength(40);
    expect(new Set(ids).size).toBe(40);
    expect(ids.slice(0, 10).filter((id) => id.startsWith("l"))).toHaveLength(5);
    expect(ids.slice(0, 3)).not.toEqual(["l0", "r0", "l1"]);
  });

  test("its hash follows contents and shares, not where files lie", async () => {
    const hashOf = async (mixture: readonly unknown[]) =>
      (await openProblems(configWith({ data: { mixture } }))).hash;
    const a = file("one.jsonl", ["x"]);
    const moved = file("moved.jsonl", ["x"]);
    const b = file("two.jsonl", ["y"]);
    const first = await hashOf([{ path: a }, { path: b }]);
    expect(await hashOf([{ path: moved }, { path: b }])).toBe(first);
    expect(await hashOf([{ path: a, weight: 2 }, { path: b }])).not.toBe(first);
  });

  test("a mixture and a file at once are refused", async () => {
    const path = file("c.jsonl", ["c"]);
    expect(idsOf({ path, mixture: [{ path }] })).rejects.toThrow("are both set");
  });
});

describe("lengths", () => {
  test("what is left out is counted by reason", async () => {
    const path = file("lengths.jsonl", ["a", "bb", "ccc", "dddd"]);
    const data = { path, minQuestionCharacters: 2, maxQuestionCharacters: 3 };
    const { problems, notes } = await openProblems(configWith({ data }));
    expect(problems.map(({ id }) => id)).toEqual(["bb", "ccc"]);
    expect(notes).toEqual([
      `${path}: 2 problems left out by length: short_question 1 · long_question 1`,
    ]);
  });

  test("nothing left is an error", async () => {
    const path = file("all.jsonl", ["a"]);
    expect(idsOf({ path, minQuestionCharacters: 2 })).rejects.toThrow("no problem is left");
  });
});

test("what a file's reader noticed is told with the data", async () => {
  const path = join(folder, "chat.jsonl");
  const prompt = [
    { role: "system", content: "You are an expert." },
    { role: "user", content: "What is 10 * 11?" },
  ];
  writeFileSync(path, `${JSON.stringify({ prompt, reward_model: { ground_truth: "110" } })}\n`);
  const { problems, notes } = await openProblems(configWith({ data: { path } }));
  expect(problems.map(({ question }) => question)).toEqual(["What is 10 * 11?"]);
  expect(notes.join("\n")).toContain("a system message of its own, which is not used");
});
