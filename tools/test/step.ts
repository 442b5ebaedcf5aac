/**
 * One step of the test run: a command of its own, judged by its own report.
 *
 * In: what to run. Out: an outcome that is never better than what the runner itself reported.
 * Refuses to know what is tested.
 */
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { ROOT } from "../workspace.ts";
import { readReport, type Counts } from "./report.ts";

/** Far above what any step needs: a runner that hangs must end before a CI machine gives up. */
const STEP_LIMIT_MS = 20 * 60 * 1000;

export interface Outcome extends Counts {
  readonly skippedNames: readonly string[];
  /** What the command printed; shown when something failed. */
  readonly output: string;
  /** Failures that no report names, as sentences. */
  readonly trouble: readonly string[];
}

export interface Step {
  readonly name: string;
  /** Whether the Python environment must stand before it starts. */
  readonly needsPython: boolean;
  run(place: Place): Promise<Outcome>;
}

/** Where steps write, and the environment they run in. */
export interface Place {
  readonly reports: string;
  readonly python: string;
  readonly env: Readonly<Record<string, string>>;
}

/** For programs that colour what they print even into a file. */
export function withoutColour(place: Place): Place {
  return { ...place, env: { ...place.env, NO_COLOR: "1" } };
}

/** A command whose exit code is the whole verdict: format, lint, types, a program on a runtime. */
export function check(name: string, command: readonly string[]): Step {
  return {
    name,
    needsPython: false,
    async run(place) {
      const { code, output } = await runCommand(name, command, ROOT, withoutColour(place));
      return { ...(code === 0 ? ONE_PASSED : ONE_FAILED), output, trouble: [], skippedNames: [] };
    },
  };
}

/** Every `*.test.ts` below `folder`, by bun:test. */
export function bunTests(name: string, folder: string): Step {
  return {
    name,
    needsPython: true,
    async run(place) {
      const report = reportPath(name, place);
      const files = [...new Bun.Glob("**/*.test.ts").scanSync({ cwd: join(ROOT, folder) })]
        .filter((file) => !file.includes("node_modules/"))
        .map((file) => join(folder, file));
      // The limit is for tests that set none: a busy machine is not a failure.
      const command = [
        process.execPath,
        "test",
        "--parallel",
        "--only-failures",
        "--timeout=60000",
      ];
      const ran = await runCommand(
        name,
        [...command, "--reporter=junit", `--reporter-outfile=${report}`, ...files.map(dotted)],
        ROOT,
        place,
      );
      return judge(ran, report, files);
    },
  };
}

/** Every test below `folder`, by pytest, which finds its configuration there. */
export function pytest(name: string, folder: string): Step {
  return {
    name,
    needsPython: true,
    async run(place) {
      const report = reportPath(name, place);
      const command = [place.python, "-m", "pytest", "-q", "-p", "no:cacheprovider"];
      const ran = await runCommand(
        name,
        [...command, "-o", "junit_family=xunit2", `--junitxml=${report}`],
        join(ROOT, folder),
        place,
      );
      return judge(ran, report, []);
    },
  };
}

const ONE_PASSED: Counts = { passed: 1, failed: 0, skipped: 0 };
const ONE_FAILED: Counts = { passed: 0, failed: 1, skipped: 0 };

export interface Ran {
  readonly code: number;
  readonly output: string;
}

/**
 * The report's own counts, plus one failure for each thing it keeps silent about: a test file that
 * never reported, a runner that gave up although no test failed, a run without a test.
 */
export function judge(ran: Ran, reportFile: string, files: readonly string[]): Outcome {
  if (!existsSync(reportFile)) {
    const trouble = [`The runner left no report and ended with exit code ${ran.code}`];
    return { ...ONE_FAILED, output: ran.output, trouble, skippedNames: [] };
  }
  const report = readReport(readFileSync(reportFile, "utf8"));
  const trouble = files
    .filter((file) => !report.files.has(file))
    .map((file) => `${file} reported no test: it failed before its first one, or holds none`);
  if (trouble.length === 0 && report.failed === 0) {
    if (ran.code !== 0) {
      trouble.push(`The runner ended with exit code ${ran.code} although no test failed`);
    } else if (report.passed + report.skipped === 0) {
      trouble.push("The runner ran no test");
    }
  }
  return {
    passed: report.passed,
    failed: report.failed + trouble.length,
    skipped: report.skipped,
    skippedNames: report.skippedNames,
    output: ran.output,
    trouble,
  };
}

/** Output goes to a file: a process left behind that holds a pipe could keep the run from ending. */
export async function runCommand(
  name: string,
  command: readonly string[],
  cwd: string,
  place: Place,
): Promise<Ran> {
  const log = join(place.reports, `${fileSafe(name)}.log`);
  const sink = openSync(log, "w");
  const child = Bun.spawn([...command], {
    cwd,
    env: place.env,
    stdin: "ignore",
    stdout: sink,
    stderr: sink,
    timeout: STEP_LIMIT_MS,
    killSignal: "SIGKILL",
  });
  const code = await child.exited;
  closeSync(sink);
  const cut =
    child.signalCode === null
      ? ""
      : `\n${basename(command[0] ?? "")} was ended by ${child.signalCode}\n`;
  return { code, output: readFileSync(log, "utf8") + cut };
}

function reportPath(name: string, place: Place): string {
  return join(place.reports, `${fileSafe(name)}.xml`);
}

function fileSafe(name: string): string {
  return name.replaceAll(/[^\w.-]/g, "-");
}

/** A path, not a filter: bun:test takes a bare name as a part of names. */
function dotted(file: string): string {
  return `./${relative(".", file)}`;
}
