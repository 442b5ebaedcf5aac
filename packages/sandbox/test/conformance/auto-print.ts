/** Auto-print (protocol-and-reward.md §3), decided on Python's own syntax tree. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { OwnedSandbox } from "../../src/index.ts";
import { exec, type Subject } from "./harness.ts";

const CASES: readonly (readonly [claim: string, code: string, stdout: string])[] = [
  ["a last expression is printed", "x = 6\nx * 7", "42\n"],
  ["a string is printed, not its repr", "'text'", "text\n"],
  ["None is not", "print('once')", "once\n"],
  ["a call that returns nothing adds nothing", "xs = []\nxs.append(1)", ""],
  ["an assignment prints nothing", "x = 5", ""],
  ["an expression that is not last prints nothing", "5\nx = 1", ""],
  ["an expression inside a block prints nothing", "if True:\n    5", ""],
  ["an expression over several lines is whole", "(1 +\n 2 +\n 3)", "6\n"],
  ["two on one line: the last", "x = 2; x + 1", "3\n"],
  ["a comment behind it does not matter", "3 + 4  # sum\n\n# end", "7\n"],
  ["a string that looks like code stays one", "'''a\nprint(1)\nx'''", "a\nprint(1)\nx\n"],
  ["future imports reach it", "from __future__ import annotations\n(lambda: 1)()", "1\n"],
  ["a shadowed print does not matter", "print = None\n1 + 1", "2\n"],
  ["empty code prints nothing", "", ""],
];

export function autoPrintSuite(subject: Subject): void {
  describe(`${subject.name} prints the last value when asked to:`, () => {
    let sandbox: OwnedSandbox;
    beforeAll(async () => {
      sandbox = await subject.make({ autoPrint: true });
    });
    afterAll(() => sandbox[Symbol.asyncDispose]());

    test.each(CASES)("%s", async (_claim, code, stdout) => {
      expect(await exec(sandbox, code)).toMatchObject({ status: "ok", stdout: { head: stdout } });
    });

    test("an error in it has the traceback of a plain run", async () => {
      const { stderr } = await exec(sandbox, "x = 0\n1 / x");
      expect(stderr.head).toBe(
        'Traceback (most recent call last):\n  File "<sandbox>", line 2, in <module>\n    1 / x\n    ~~^~~\nZeroDivisionError: division by zero\n',
      );
    });

    test("off, nothing is printed", async () => {
      await using plain = await subject.make();
      expect((await exec(plain, "6 * 7")).stdout.head).toBe("");
    });
  });
}
