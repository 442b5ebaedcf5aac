/**
 * The core on the other runtimes: the same story must print the same lines as on Bun.
 *
 * In: the pinned Deno and Node of the workspace. Out: one verdict each. Where their packages hold
 * nothing for this machine, a skip that says so.
 */
import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "../workspace.ts";
import { runCommand, withoutColour, type Outcome, type Place, type Step } from "./step.ts";

export type Runtime = "deno" | "node";

const STORY = "tools/test/runtimes/core-story.ts";

export function runtimeStep(runtime: Runtime): Step {
  return { name: runtime, needsPython: false, run: (place) => tellStory(runtime, place) };
}

async function tellStory(runtime: Runtime, coloured: Place): Promise<Outcome> {
  const place = withoutColour(coloured);
  const binary = findBinary(runtime);
  if (binary === null) {
    const reason = `no ${runtime} package for ${process.platform} ${process.arch}`;
    const skip = { passed: 0, failed: 0, skipped: 1, skippedNames: [reason] };
    return { ...skip, output: "", trouble: [] };
  }
  const command = { deno: [binary, ...DENO_FLAGS, STORY], node: [binary, STORY] }[runtime];
  const onBun = await runCommand(`${runtime}-bun`, [process.execPath, STORY], ROOT, place);
  const here = await runCommand(runtime, command, ROOT, place);
  const trouble: string[] = [];
  if (onBun.code !== 0) trouble.push(`The story ended with exit code ${onBun.code} on Bun itself`);
  if (here.code !== 0) trouble.push(`The story ended with exit code ${here.code}`);
  if (trouble.length === 0 && here.output !== onBun.output) {
    trouble.push("The story printed other lines than on Bun, which are:", onBun.output.trimEnd());
  }
  const passed = trouble.length === 0 ? 1 : 0;
  return { passed, failed: 1 - passed, skipped: 0, skippedNames: [], output: here.output, trouble };
}

/** Only what is installed, nothing fetched, and no right but to read this checkout. */
const DENO_FLAGS = [
  "run",
  "--quiet",
  "--no-lock",
  "--no-remote",
  "--node-modules-dir=manual",
  "--no-prompt",
  `--allow-read=${ROOT}`,
];

function findBinary(runtime: Runtime): string | null {
  const { platform, arch } = process;
  const libc = platform === "linux" ? "-glibc" : "";
  // What a package depends on lies beside the package's real folder (isolated installs).
  const beside = (name: string): string => dirname(realpathOr(join(ROOT, "node_modules", name)));
  const path = {
    deno: join(beside("deno"), `@deno/${platform}-${arch}${libc}/deno`),
    node: join(ROOT, `node_modules/node-${platform}-${arch}/bin/node`),
  }[runtime];
  return existsSync(path) ? path : null;
}

function realpathOr(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}
