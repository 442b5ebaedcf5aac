/** The differential suite: every program ends as `python3 file.py` ends it. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { OwnedSandbox } from "../../src/index.ts";
import { normalise, runAsFile, type Observed } from "./differential.ts";
import { exec, type Subject } from "./harness.ts";
import { CARETS_DIFFER, ERROR_PROGRAMS } from "./programs/errors.ts";
import { LIBRARY_PROGRAMS, PLAIN_PROGRAMS } from "./programs/plain.ts";

export function asAFileSuite(subject: Subject): void {
  describe(`${subject.name} runs code as python3 file.py does:`, () => {
    let sandbox: OwnedSandbox;
    beforeAll(async () => {
      sandbox = await subject.make({ limits: { wallSeconds: 20 } });
    });
    afterAll(() => sandbox[Symbol.asyncDispose]());

    async function compare(program: string): Promise<void> {
      const [expected, result] = await Promise.all([
        runAsFile(subject.python, program),
        exec(sandbox, program),
      ]);
      const { exitCode, signal } = result;
      const seen = { exitCode, signal, stdout: result.stdout.head, stderr: result.stderr.head };
      const carets = !CARETS_DIFFER.has(program);
      expect(shown(normalise(seen, "<sandbox>"), carets)).toEqual(shown(expected, carets));
    }

    test.each(ERROR_PROGRAMS.map((program) => [title(program), program] as const))(
      "%s",
      (_title, program) => compare(program),
    );
    test.each(PLAIN_PROGRAMS.map((program) => [title(program), program] as const))(
      "%s",
      (_title, program) => compare(program),
    );
    test
      .skipIf(!subject.libraries)
      .each(LIBRARY_PROGRAMS.map((program) => [title(program), program] as const))(
      "with numpy and sympy: %s",
      (_title, program) => compare(program),
    );
  });
}

function shown(observed: Observed, carets: boolean): Observed {
  if (carets) return observed;
  return { ...observed, stderr: observed.stderr.replaceAll(/^ *\^+\n/gm, "") };
}

function title(program: string): string {
  return JSON.stringify(program.slice(0, 70)).replaceAll("%", "%%").replaceAll("$", "$ ");
}
