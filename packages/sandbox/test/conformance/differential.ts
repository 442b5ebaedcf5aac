/** `python3 file.py` as the oracle: same output, exit code and traceback, whatever runs the program. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findPython } from "../../src/python/find-python.ts";

export type Observed = {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
};

/** Runs a program as a file, in a folder of its own, in the environment that a sandbox promises. */
export async function runAsFile(python: string, program: string, stdin = ""): Promise<Observed> {
  const folder = await mkdtemp(join(tmpdir(), "oracle-"));
  try {
    const file = join(folder, "program.py");
    await Bun.write(file, program);
    const child = Bun.spawn([python, "-B", file], {
      cwd: folder,
      env: {
        PATH: "/usr/local/bin:/usr/bin:/bin",
        LANG: "C.UTF-8",
        HOME: folder,
        TMPDIR: folder,
        PYTHONHASHSEED: "0",
        OMP_NUM_THREADS: "1",
        OPENBLAS_CORETYPE: process.env["OPENBLAS_CORETYPE"] ?? "",
      },
      stdin: new TextEncoder().encode(stdin),
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    await child.exited;
    const { exitCode, signalCode } = child;
    const signal = signalCode === null ? null : String(signalCode);
    return normalise({ exitCode, signal, stdout, stderr }, file);
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

/** The interpreter of the tests, and whether it has numpy and sympy. */
export function testPython(): Promise<TestPython> {
  return describePython(process.env["INTERLACE_TEST_PYTHON"] ?? "python3");
}

/** One that every user may read: what lies in root's home is for root alone. */
export function plainUserPython(): Promise<TestPython> {
  return describePython(process.env["INTERLACE_TEST_PLAIN_PYTHON"] ?? "/usr/bin/python3");
}

async function describePython(wanted: string): Promise<TestPython> {
  const python = await findPython(wanted);
  const child = Bun.spawn([python.executable, "-c", "import numpy, sympy"], {
    stdout: "ignore",
    stderr: "ignore",
  });
  return { path: python.executable, libraries: (await child.exited) === 0 };
}
