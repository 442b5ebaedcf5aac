/** The oracles: pyarrow and polars in the Python environment of the tests. */
import { existsSync } from "node:fs";
import { join } from "node:path";

export const PYTHON = join(import.meta.dir, "../../../../.interlace/test-venv/bin/python");

/** False: tests that need an oracle are skipped, visibly. */
export const HAS_PYTHON = existsSync(PYTHON);

/** Runs a script that prints one JSON value; `stdin` goes to it as it is. */
export async function askPython(
  script: string,
  args: readonly string[] = [],
  stdin: Uint8Array = new Uint8Array(0),
): Promise<unknown> {
  const child = Bun.spawn([PYTHON, "-c", script, ...args], {
    stdin,
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(`Python ended with ${code}: ${err}`);
  return JSON.parse(out);
}
