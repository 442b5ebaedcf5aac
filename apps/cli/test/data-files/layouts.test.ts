/** Files that pyarrow, polars and pandas wrote, in every layout that is known, hold the problems that they hold. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readProblemFile } from "../../src/data-files/read-problem-file.ts";
import { askPython, newFolder } from "../support/cli.ts";

setDefaultTimeout(120_000);

type Written = {
  readonly files: readonly (readonly [layout: string, name: string])[];
  readonly problems: Readonly<Record<string, readonly unknown[]>>;
};

let folder = "";
let written: Written;
beforeAll(async () => {
  folder = newFolder();
  const script = readFileSync(join(import.meta.dir, "write_layouts.py"), "utf8");
  written = (await askPython(script, [folder])) as Written;
});
afterAll(() => rmSync(folder, { recursive: true }));

test("six layouts, three libraries, every format that each can write", async () => {
  const wrong: string[] = [];
  for (const [layout, name] of written.files) {
    try {
      const { problems } = await readProblemFile(join(folder, name), null);
      const seen = problems.map(({ id, question, answer }) => [id, question, answer]);
      if (!Bun.deepEquals(seen, written.problems[layout])) {
        wrong.push(`${name}: ${JSON.stringify(seen)}`);
      }
    } catch (error) {
      wrong.push(`${name}: ${String(error)}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(written.files.length).toBeGreaterThan(45);
});
