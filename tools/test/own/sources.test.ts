/** The guards read code as text; this says what they take for code. */
import { expect, test } from "bun:test";
import { codeOnly, importsOf, packageOf } from "../guards/sources.ts";

const words = (code: string): readonly string[] => codeOnly(code).match(/\w+/g) ?? [];

test("comments, strings and regular expressions are no code, what stands in ${} is", () => {
  expect(words("a // b\nc /* d\n * e */ f")).toEqual(["a", "c", "f"]);
  expect(words(`a = "b \\" c" + 'd' + e`)).toEqual(["a", "e"]);
  expect(words("a = `b ${c + `d ${e}` + `f`} g ${{ h: 1 }.h} i` + j")).toEqual([
    "a",
    "c",
    "e",
    "h",
    "1",
    "h",
    "j",
  ]);
  expect(words("a = /b[/`]c'/g.test(d) && e / f / g")).toEqual(["a", "test", "d", "e", "f", "g"]);
  expect(words("if (a) { b = `c` } d = `e`")).toEqual(["if", "a", "b", "d"]);
});

test("lines stay where they are", () => {
  const code = "/*\n*/ `a\n${b}\n` // c\nd";
  expect(
    codeOnly(code)
      .split("\n")
      .map((line) => line.trim()),
  ).toEqual(["", "", "b", "", "d"]);
});

test("every form of import is seen, over several lines too", () => {
  const code = `import a from "one";
import type {
  B,
} from "./two.ts";
export { c } from "three/deep";
import "four";
type D = import("five").D;
const e = await import("six");
// import f from "not this";
const text = "import g from 'nor this'";`;
  expect(importsOf(code)).toEqual(["one", "./two.ts", "three/deep", "four", "five", "six"]);
});

test("a package is the first part of what is imported, the first two with a scope", () => {
  expect(packageOf("zod/v4")).toBe("zod");
  expect(packageOf("@interlace/core/x")).toBe("@interlace/core");
});
