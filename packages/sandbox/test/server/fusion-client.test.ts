/** The published Python client of SandboxFusion, unchanged, against our server. */

import { expect, test } from "bun:test";
import { createSandbox, serveSandbox } from "../../src/index.ts";
import { testPython } from "../conformance/differential.ts";
import "../conformance/patience.ts";

const { path: python } = await testPython();
const found = Bun.spawn([python, "-c", "import sandbox_fusion"], { stderr: "ignore" });
const missing = (await found.exited) !== 0;
const CASES = [
  ["print(6 * 7)", {}],
  ["1 / 0", {}],
  ["import time; time.sleep(1000)", { run_timeout: 1 }],
  ["print(input())", { stdin: "typed" }],
] as const;

test.skipIf(missing)(
  "sandbox-fusion from PyPI works unchanged",
  async () => {
    await using sandbox = await createSandbox({});
    await using served = serveSandbox(sandbox, { port: 0 });
    const script = `import json, sandbox_fusion as fusion
fusion.set_endpoint(${JSON.stringify(served.url)})
for code, fields in json.loads(${JSON.stringify(JSON.stringify(CASES))}):
    answer = fusion.run_code(fusion.RunCodeRequest(code=code, language="python", **fields))
    run = answer.run_result
    print(json.dumps([answer.status.value, run.status.value, run.return_code, run.stdout]))`;
    const child = Bun.spawn([python, "-c", script], { stdout: "pipe", stderr: "inherit" });
    const lines = (await child.stdout.text()).trim().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      ["Success", "Finished", 0, "42\n"],
      ["Failed", "Finished", 1, ""],
      ["Failed", "TimeLimitExceeded", null, ""],
      ["Success", "Finished", 0, "typed\n"],
    ]);
  },
  30_000,
);
