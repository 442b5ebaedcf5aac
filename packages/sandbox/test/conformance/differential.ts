/** `python3 file.py` as the oracle: same output, exit code and traceback, whatever runs the program. */

import { existsSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cleanEnvironment } from "../../src/python/environment.ts";
import { findPython } from "../../src/python/find-python.ts";

export type Observed = {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
};

/** Answers are kept by content: every backend is compared with the same ones. */
const KEPT = join(import.meta.dir, "../../../../.interlace/oracle");

/** Runs a program as a file, in a folder of its own, in the environment that a sandbox promises. */
export async function runAsFile(python: string, program: string): Promise<Observed> {
  const key = Bun.hash(JSON.stringify([python, statSync(python).mtimeMs, program])).toString(36);
  const kept = Bun.file(join(KEPT, `${key}.json`));
  if (await kept.exists()) return kept.json();
  const folder = await mkdtemp(join(tmpdir(), "oracle-"));
  try {
    const file = join(folder, "program.py");
    await Bun.write(file, program);
    const child = Bun.spawn([python, "-B", file], {
      cwd: folder,
      env: cleanEnvironment(folder),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    await child.exited;
    const { exitCode, signalCode } = child;
    const signal = signalCode === null ? null : String(signalCode);
    const observed = normalise({ exitCode, signal, stdout, stderr }, file);
    await Bun.write(kept, JSON.stringify(observed));
    return observed;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What may differ: the file's name, addresses, and Ctrl-C's way of dying (a shell shows 130 for it). */
export function normalise(observed: Observed, file: string): Observed {
  const interrupted = observed.signal === "SIGINT";
  const text = (each: string) =>
    each.replaceAll(file, "<sandbox>").replaceAll(/0x[0-9a-f]{6,}/g, "0xADDRESS");
  return {
    exitCode: interrupted ? 130 : observed.exitCode,
    signal: interrupted ? null : observed.signal,
    stdout: text(observed.stdout),
    stderr: text(observed.stderr),
  };
}

type TestPython = { readonly path: string; readonly libraries: boolean };

const ROOT = join(import.meta.dir, "../../../..");
const TEST_VENV = join(ROOT, ".interlace/test-venv/bin/python");

/** The interpreter of the tests – the project's own, once it is set up –, and whether it has libraries. */
export function testPython(): Promise<TestPython> {
  const own = existsSync(TEST_VENV) ? TEST_VENV : "python3";
  return describePython(process.env["INTERLACE_TEST_PYTHON"] ?? own);
}

/** One that every user may read: what lies in root's home is for root alone. */
export function plainUserPython(): Promise<TestPython> {
  return describePython(process.env["INTERLACE_TEST_PLAIN_PYTHON"] ?? "/usr/bin/python3");
}

/** Without the test environment's packages, and readable for all where there is such a one. */
export function leanPython(): Promise<TestPython> {
  return existsSync("/usr/bin/python3") ? plainUserPython() : describePython("python3");
}

async function describePython(wanted: string): Promise<TestPython> {
  const python = await findPython(wanted);
  const child = Bun.spawn([python.executable, "-c", "import numpy, sympy"], {
    stdout: "ignore",
    stderr: "ignore",
  });
  return { path: python.executable, libraries: (await child.exited) === 0 };
}
