/** A small engine in a process of its own, to be killed: makes a sandbox, runs some calls, never ends. */

import { createSandbox, type SandboxOptions } from "../../src/index.ts";

const [options = "{}", code = "", count = "1"] = process.argv.slice(2);
const sandbox = await createSandbox(JSON.parse(options) as SandboxOptions);
const never = new AbortController().signal;
const runs = Array.from({ length: Number(count) }, (_, index) =>
  sandbox.run({ id: `call-${index}`, code }, never),
);
console.log("running");
await Promise.all(runs);
