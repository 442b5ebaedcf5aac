/** What the house style asks of every file and a machine can see. */
import { expect, test } from "bun:test";
import { basename } from "node:path";
import { linesMatching, read, readCode, sourceFiles } from "./sources.ts";

const typescript = sourceFiles.filter((path) => path.endsWith(".ts") && !path.endsWith(".as.ts"));

function findAll(pattern: RegExp, paths: readonly string[] = typescript): readonly string[] {
  return paths.flatMap((path) => linesMatching(path, readCode(path), pattern));
}

test("no any, no enum, no namespace, no default export, no export *", () => {
  expect(
    findAll(/(?:[:<|&]|\bas|=>|\bextends|\btype \w+ =)\s*any\b(?!\s*[.(])|\bany\s*(?:\[\]|>)/),
  ).toEqual([]);
  expect(findAll(/^\s*(export\s+)?(declare\s+)?(const\s+)?enum\s/)).toEqual([]);
  expect(findAll(/^\s*(export\s+)?(declare\s+)?namespace\s/)).toEqual([]);
  expect(findAll(/^\s*export\s+default\b/)).toEqual([]);
  expect(findAll(/^\s*export\s+(type\s+)?\*/)).toEqual([]);
});

test("the type checker is never told to look away, the linter only with a reason", () => {
  const wrong = typescript.flatMap((path) => [
    ...linesMatching(path, read(path), /^\s*(\/\/|\/\*)\s*@ts-(ignore|expect-error|nocheck)/),
    ...linesMatching(path, read(path), /(ox|es)lint-disable(?!.* -- \w)/),
  ]);
  expect(wrong).toEqual([]);
});

test("a class holds a resource or is an error", () => {
  const wrong = typescript
    .filter((path) => /^(packages|apps)\/[^/]+\/src\//.test(path))
    .flatMap((path) => {
      const code = readCode(path);
      if (/Symbol\.(asyncDispose|dispose)/.test(code)) return [];
      return linesMatching(
        path,
        code,
        /^\s*(export\s+)?(abstract\s+)?class\s+(?!\w+ extends \w*Error\b)/,
      );
    });
  expect(wrong).toEqual([]);
});

test("files are named in kebab-case, Python in snake_case", () => {
  const wrong = sourceFiles
    .map((path) => ({ path, name: basename(path) }))
    .filter(({ name }) =>
      name.endsWith(".py")
        ? !/^[a-z0-9_]+\.py$/.test(name)
        : !/^[a-z0-9]+(-[a-z0-9]+)*(\.(test|as|d|bench))?\.ts$/.test(name),
    );
  expect(wrong.map(({ path }) => path)).toEqual([]);
});

test("no file is over 500 lines, nine of ten are under 300", () => {
  const sizes = sourceFiles.map((path) => ({ path, lines: read(path).split("\n").length - 1 }));
  expect(sizes.filter(({ lines }) => lines > 500)).toEqual([]);
  const under = sizes.filter(({ lines }) => lines < 300).length;
  expect(under / sizes.length).toBeGreaterThanOrEqual(0.9);
});

test("source files begin by saying what they are", () => {
  const wrong = typescript
    .filter((path) => /^(packages|apps)\/[^/]+\/src\//.test(path))
    .filter((path) => !/^(#!.*\n)?\s*(\/\*\*|import|export)/.test(read(path)));
  expect(wrong).toEqual([]);
});
