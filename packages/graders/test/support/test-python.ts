/** The interpreter that tests judge with. There is no skipping: without it the tests fail and say why. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ensureMathVerifyEnv } from "../../src/index.ts";

const local = (path: string): string =>
  fileURLToPath(new URL(`../../../../${path}`, import.meta.url));

/** The runner's shared environment where it is; else our own, made once. */
export async function testPython(): Promise<string> {
  const shared = local(".interlace/test-venv/bin/python");
  if (existsSync(shared)) return shared;
  const env = await ensureMathVerifyEnv({
    folder: local(".interlace/python"),
    tell: (line) => console.log(line),
  });
  if (env.ok) return env.python;
  throw new Error(`Tests of the judge need Python with Math-Verify: ${env.reason}: ${env.detail}`);
}
