/**
 * `bun run test`: everything that is checked, in one run.
 *
 * In: names of steps (none means all). Out: a line a step, what failed in full, and the closing
 * line `N passed, N failed` last, counted from the runners' own reports, one for each step that is
 * a single verdict. Exit code 0 only when something ran and nothing failed. Does its own set-up.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { installWorkspace, requirePinnedBun, ROOT, say, SetupError } from "../workspace.ts";
import { addCounts, closingLine, isGreen, NOTHING_RAN, type Counts } from "./report.ts";
import { runtimeStep } from "./runtimes.ts";
import { prepareMachine, preparePython } from "./setup.ts";
import { bunTests, check, pytest, type Outcome, type Place, type Step } from "./step.ts";

/** Enough of a failing step's output to see why; the rest stays in the named folder. */
const SHOWN_CHARACTERS = 100_000;

function allSteps(): readonly Step[] {
  const bun = process.execPath;
  const packages = foldersIn("packages").map((name) => ({ name, folder: `packages/${name}` }));
  const apps = foldersIn("apps").map((name) => ({ name, folder: `apps/${name}` }));
  const typescript = [...orderedByFlow(packages), ...apps];
  return [
    check("format", [bun, "fmt", "--check"]),
    check("lint", [bun, "node_modules/oxlint/bin/oxlint", "--type-aware", "--deny-warnings"]),
    check("types", [bun, "check", "--no-script"]),
    bunTests("tools", "tools/test/own"),
    bunTests("guards", "tools/test/guards"),
    ...typescript
      .filter(({ folder }) => hasFile(folder, "**/*.test.ts"))
      .map(({ name, folder }) => bunTests(name, folder)),
    runtimeStep("deno"),
    runtimeStep("node"),
    ...[
      ...typescript.map(({ name, folder }) => ({ name, folder: `${folder}/python` })),
      { name: "seed-policy", folder: "tools/seed-policy" },
    ]
      .filter(({ folder }) => hasFile(folder, "**/test_*.py"))
      .map(({ name, folder }) => pytest(`python:${name}`, folder)),
    bunTests("readme", "tools/test/readme"),
  ];
}

async function main(args: readonly string[]): Promise<number> {
  requirePinnedBun();
  const steps = selectSteps(allSteps(), args);
  // A machine without Python hears of it before anything is installed.
  const python = steps.some(({ needsPython }) => needsPython) ? await preparePython() : "";
  await installWorkspace("all");
  if (python !== "") await prepareMachine();

  const reports = mkdtempSync(join(tmpdir(), "interlace-test-"));
  const place: Place = { reports, python, env: testEnvironment(reports) };
  const started = performance.now();
  let total: Counts = NOTHING_RAN;
  const skippedNames: string[] = [];
  for (const step of steps) {
    const outcome = await runStep(step, place);
    total = addCounts(total, outcome);
    skippedNames.push(...outcome.skippedNames.map((name) => `${step.name}: ${name}`));
  }
  for (const name of skippedNames) console.log(`skipped  ${name}`);
  const seconds = secondsSince(started);
  if (isGreen(total)) rmSync(reports, { recursive: true });
  else console.log(`Reports and full output are in ${reports}`);
  console.log(`${steps.length} steps in ${seconds} s`);
  console.log(closingLine(total));
  return isGreen(total) ? 0 : 1;
}

async function runStep(step: Step, place: Place): Promise<Outcome> {
  const started = performance.now();
  if (process.stdout.isTTY) process.stdout.write(`…     ${step.name}`);
  const outcome = await step.run(place);
  if (process.stdout.isTTY) process.stdout.write("\r");
  const verdict = outcome.failed > 0 ? "FAIL" : "ok  ";
  const seconds = secondsSince(started).padStart(7);
  console.log(`${verdict}  ${step.name.padEnd(20)} ${seconds} s  ${closingLine(outcome)}`);
  if (outcome.failed > 0) {
    console.log(tail(outcome.output));
    for (const line of outcome.trouble) console.log(`${step.name}: ${line}`);
  }
  return outcome;
}

/** `core sandbox`, `--only=lint,types`: both choose steps by name; `python` means all `python:…`. */
function selectSteps(steps: readonly Step[], args: readonly string[]): readonly Step[] {
  const names = args.flatMap((arg) => arg.replace(/^--only=/, "").split(","));
  const isNamed = (step: Step, name: string): boolean =>
    step.name === name || step.name.startsWith(`${name}:`);
  const unknown = names.find((name) => !steps.some((step) => isNamed(step, name)));
  if (unknown !== undefined) {
    const known = steps.map(({ name }) => name).join(", ");
    throw new UsageError(`Expected names of steps (${known}), got ${JSON.stringify(unknown)}`);
  }
  if (names.length === 0) return steps;
  return steps.filter((step) => names.some((name) => isNamed(step, name)));
}

class UsageError extends SetupError {}

/** What a test sees must not depend on who runs it: no settings of ours, and this very Bun first. */
function testEnvironment(reports: string): Readonly<Record<string, string>> {
  const bin = join(reports, "bin");
  mkdirSync(bin);
  symlinkSync(process.execPath, join(bin, "bun"));
  const env: Record<string, string> = { PYTHONDONTWRITEBYTECODE: "1" };
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && !name.startsWith("INTERLACE_")) env[name] = value;
  }
  env["PATH"] = [bin, process.env["PATH"] ?? ""].join(delimiter);
  return env;
}

/** The order of the README; a package that is not in it comes after. */
function orderedByFlow<T extends { readonly name: string }>(packages: readonly T[]): readonly T[] {
  const flow = ["core", "sampler-clients", "sandbox", "graders", "train-bridge"];
  const place = (name: string): number => (flow.includes(name) ? flow.indexOf(name) : flow.length);
  return packages.toSorted((a, b) => place(a.name) - place(b.name));
}

function foldersIn(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter(
      (entry) => entry.isDirectory() && existsSync(join(ROOT, folder, entry.name, "package.json")),
    )
    .map(({ name }) => name)
    .toSorted();
}

function hasFile(folder: string, pattern: string): boolean {
  const cwd = join(ROOT, folder);
  if (!existsSync(cwd)) return false;
  for (const file of new Bun.Glob(pattern).scanSync({ cwd })) {
    if (!file.includes("node_modules/")) return true;
  }
  return false;
}

function tail(output: string): string {
  if (output.length <= SHOWN_CHARACTERS) return output.trimEnd();
  return `… ${output.slice(-SHOWN_CHARACTERS).trimEnd()}`;
}

function secondsSince(started: number): string {
  return ((performance.now() - started) / 1000).toFixed(1);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  say(error.message);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
