/** White space is Python's: the whole set, as `chr(i).isspace()` of CPython 3.11 lists it. */
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  isPythonSpace,
  lstrip,
  rstrip,
  skipSpace,
  strip,
} from "../../src/tokens/python-whitespace.ts";

const PYTHON_SPACES = [
  0x9, 0xa, 0xb, 0xc, 0xd, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x85, 0xa0, 0x1680, 0x2000, 0x2001, 0x2002,
  0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f,
  0x3000,
];

describe("isPythonSpace", () => {
  test("holds exactly what CPython holds", () => {
    const seen: number[] = [];
    for (let code = 0; code < 0x10000; code++) if (isPythonSpace(code)) seen.push(code);
    expect(seen).toEqual(PYTHON_SPACES);
  });
});

describe("strip", () => {
  test.each([
    ["  a b\t\n", "a b"],
    ["\u001c\u0085a\u3000\u001f", "a"],
    ["\ufeffa\u200b", "\ufeffa\u200b"],
    [" \n\u2028", ""],
    ["", ""],
  ])("%j becomes %j", (text, stripped) => {
    expect(strip(text)).toBe(stripped);
  });

  test("one side only", () => {
    expect(lstrip(" a ")).toBe("a ");
    expect(rstrip(" a ")).toBe(" a");
    expect(skipSpace("ab \n c", 2)).toBe(5);
    expect(skipSpace("  ", 0)).toBe(2);
  });

  test("agrees with a pattern over the same set, and leaves the middle alone", () => {
    const set = PYTHON_SPACES.map((code) => `\\u${code.toString(16).padStart(4, "0")}`).join("");
    const ends = new RegExp(`^[${set}]+|[${set}]+$`, "g");
    const unit = fc.oneof(
      fc.constantFrom(...PYTHON_SPACES.map((code) => String.fromCharCode(code))),
      fc.constantFrom("a", "\ufeff", "\u200b", "🙂"),
    );
    fc.assert(
      fc.property(fc.string({ unit }), (text) => {
        expect(strip(text)).toBe(text.replace(ends, ""));
      }),
    );
  });
});
