/** The `interlace` process: arguments in, a command run, an exit code out. */
import { run, type StricliProcess } from "@stricli/core";
import { app } from "./app.ts";
import { processTerminal } from "./terminal/terminal.ts";

const parser: StricliProcess = {
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  exitCode: null,
};
await run(app, process.argv.slice(2), {
  process: parser,
  terminal: processTerminal(),
  env: process.env,
  setExitCode: (code) => {
    process.exitCode = code;
  },
});

// The parser's own codes are negative: an argument that it refused is wrong use.
if (typeof parser.exitCode === "number" && parser.exitCode < 0) process.exitCode = 2;
