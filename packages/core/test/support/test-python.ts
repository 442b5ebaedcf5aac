/** Python with the pinned oracles, as `bun run test` sets it up. */
import { join } from "node:path";

const PYTHON = join(import.meta.dir, "../../../../.interlace/test-venv/bin/python");

/** Runs it on `args` with `stdin`; its stdout. Throws with its stderr when it fails, and when it is not there. */
export async function testPython(args: readonly string[], stdin = ""): Promise<string> {
  if (!(await Bun.file(PYTHON).exists())) {
    throw new Error(
      `Expected the test environment at ${PYTHON}: run "bun run test" once, it makes it`,
    );
  }
  const child = Bun.spawn([PYTHON, ...args], {
    stdin: new TextEncoder().encode(stdin),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(`Python ended with ${code}: ${err}`);
  return out;
}
