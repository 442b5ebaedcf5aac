/**
 * Grades programs. In: a sandbox. Out: a `Grader` that runs the last code block of a text against the problem's tests:
 * all pass, or not all. A sandbox that breaks is `unscored`; a program that is slow, large or wrong is `different`.
 *
 * The program runs in the same process as asserts, so that one which works against the tests – reads its own frames,
 * replaces `assert` by a debugger – can pass them. Ending early does not help: what must be printed last is not known
 * to it beforehand. Tests with input and output give it nothing to work against.
 */
import type { ExecLimits, Grade, Grader, Sandbox } from "@interlace/core";
import { lastCodeBlock } from "./last-code-block.ts";
import { parseTests, type CodeTests } from "./parse-tests.ts";

export type CodeTestsOptions = {
  readonly sandbox: Sandbox;
  /** Of each run; absent = the sandbox's own. */
  readonly limits?: Partial<ExecLimits>;
  /** Tests with input and output of one program, all together; 60 by default. */
  readonly totalSeconds?: number;
};

type Verdict = "passed" | "failed" | Extract<Grade, { kind: "unscored" }>;

export function codeTestsGrader(options: CodeTestsOptions): Grader {
  const { sandbox, limits = {}, totalSeconds = 60 } = options;
  let runs = 0;

  /** What it printed, `failed`, or what broke. */
  async function run(code: string, stdin: string, signal: AbortSignal) {
    const id = `test-${++runs}`;
    const result = await sandbox.run({ id, code, stdin, limits }, signal);
    if (!result.ok) return unscored(result.cause, result.detail);
    if (result.status === "cancelled") return unscored("cancelled", "The sandbox cancelled a test");
    const { stdout, usage } = result;
    return { ok: result.status === "ok" && stdout.omittedBytes === 0, printed: stdout.head, usage };
  }

  async function judge(code: string, tests: CodeTests, signal: AbortSignal): Promise<Verdict> {
    if (tests.kind === "asserts") {
      const last = crypto.randomUUID();
      const program = `${code}\n\n${tests.code}\nprint("\\n" + ${JSON.stringify(last)})\n`;
      const seen = await run(program, "", signal);
      if ("kind" in seen) return seen;
      return seen.ok && seen.printed.trimEnd().endsWith(last) ? "passed" : "failed";
    }
    let left = totalSeconds;
    for (const { input, output } of tests.cases) {
      const seen = await run(code, input, signal);
      if ("kind" in seen) return seen;
      if (!seen.ok || linesOf(seen.printed) !== linesOf(output)) return "failed";
      left -= seen.usage.wallSeconds;
      if (left < 0) return "failed";
    }
    return "passed";
  }

  return {
    async grade(finalText, answer, signal) {
      signal.throwIfAborted();
      const tests = parseTests(answer);
      if (typeof tests === "string") return unscored("bad_reference", tests);
      const code = lastCodeBlock(finalText);
      if (code === null || code.trim() === "") {
        return { kind: "different", answer: null, by: "format" };
      }
      const verdict = await judge(code, tests, signal);
      if (typeof verdict !== "string") return verdict;
      return { kind: verdict === "passed" ? "equal" : "different", answer: code, by: "code_tests" };
    },
  };
}

/** Trailing white space of a line, and of the whole, is no part of an answer. */
function linesOf(text: string): string {
  return text
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")
    .trimEnd();
}

function unscored(reason: string, detail: string): Extract<Grade, { kind: "unscored" }> {
  return { kind: "unscored", reason, detail };
}
