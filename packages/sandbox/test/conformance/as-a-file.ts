/** The differential suite: every program ends as `python3 file.py` ends it. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { OwnedSandbox } from "../../src/index.ts";
import { normalise, runAsFile, type Observed } from "./differential.ts";
import { exec, type Subject } from "./harness.ts";
import { CARETS_DIFFER, ERROR_PROGRAMS } from "./programs/errors.ts";
import { LIBRARY_PROGRAMS, PLAIN_PROGRAMS, SHARED_MEMORY_PROGRAMS } from "./programs/plain.ts";

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

    for (const [programs, skipped, kind] of [
      [ERROR_PROGRAMS, false, ""],
      [PLAIN_PROGRAMS, false, ""],
      [SHARED_MEMORY_PROGRAMS, subject.hasNoSharedMemory === true, "with shared memory: "],
      [LIBRARY_PROGRAMS, !subject.libraries, "with numpy and sympy: "],
    ] as const) {
      const rows = programs.map((program) => [title(program), program] as const);
      test.skipIf(skipped).each(rows)(`${kind}%s`, (_title, program) => compare(program));
    }
  });
}

function shown(observed: Observed, carets: boolean): Observed {
  if (carets) return observed;
  return { ...observed, stderr: observed.stderr.replaceAll(/^ *\^+\n/gm, "") };
}

function title(program: string): string {
  return JSON.stringify(program.slice(0, 70)).replaceAll("%", "%%").replaceAll("$", "$ ");
}
