/** The differential suite: every program ends as `python3 file.py` ends it. */

import { availableParallelism } from "node:os";
import { beforeAll, describe, expect, test } from "bun:test";
import type { OwnedSandbox } from "../../src/index.ts";
import { normalise, runAsFile, type Observed } from "./differential.ts";
import { exec, type Subject } from "./harness.ts";
import { CARETS_DIFFER, ERROR_PROGRAMS } from "./programs/errors.ts";
import { LIBRARY_PROGRAMS, PLAIN_PROGRAMS, SHARED_MEMORY_PROGRAMS } from "./programs/plain.ts";

export function asAFileSuite(subject: Subject): void {
  const groups = [
    { programs: ERROR_PROGRAMS, skipped: false, kind: "" },
    { programs: PLAIN_PROGRAMS, skipped: false, kind: "" },
    {
      programs: SHARED_MEMORY_PROGRAMS,
      skipped: subject.hasNoSharedMemory === true,
      kind: "with shared memory: ",
    },
    { programs: LIBRARY_PROGRAMS, skipped: !subject.libraries, kind: "with numpy and sympy: " },
  ];

  describe(`${subject.name} runs code as python3 file.py does:`, () => {
    const compared = new Map<string, { readonly seen: Observed; readonly expected: Observed }>();

    async function compare(sandbox: OwnedSandbox, program: string): Promise<void> {
      const [expected, result] = await Promise.all([
        runAsFile(subject.python, program),
        exec(sandbox, program),
      ]);
      const { exitCode, signal } = result;
      const output = { exitCode, signal, stdout: result.stdout.head, stderr: result.stderr.head };
      compared.set(program, { seen: normalise(output, "<sandbox>"), expected });
    }

    beforeAll(async () => {
      await using sandbox = await subject.make({ limits: { wallSeconds: 20 } });
      const runnable = groups.filter(({ skipped }) => !skipped);
      const queue = runnable.flatMap(({ programs }) => programs);
      async function work(): Promise<void> {
        for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
          await compare(sandbox, next);
        }
      }
      await Promise.all(Array.from({ length: availableParallelism() }, work));
    }, 300_000);

    for (const { programs, skipped, kind } of groups) {
      const rows = programs.map((program) => [title(program), program] as const);
      test.skipIf(skipped).each(rows)(`${kind}%s`, (_title, program) => {
        const { seen, expected } = compared.get(program)!;
        const carets = !CARETS_DIFFER.has(program);
        expect(shown(seen, carets)).toEqual(shown(expected, carets));
      });
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
