/**
 * What is fed: every reader of bytes that somebody else wrote. In: nothing. Out: targets with examples, words that belong
 * to their language, and a way to feed one input. A target refuses with its own errors; anything else is a finding.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PersonError } from "../../apps/cli/src/person-error.ts";
import { readConfigFile } from "../../apps/cli/src/config/config-file.ts";
import { readProblemFile } from "../../apps/cli/src/data-files/read-problem-file.ts";
import { parseLogLine } from "../../apps/cli/src/event-log/log-line.ts";
import { readEventLog } from "../../apps/cli/src/event-log/read-event-log.ts";
import { createTerminal } from "../../apps/cli/src/terminal/terminal.ts";
import { verifyWork } from "../../apps/cli/src/verify/verify-work.ts";
import {
  compareNatively,
  extractBoxed,
  parseJsonl,
  qwen3Coder,
  readProblems,
} from "../../packages/core/src/index.ts";
import { readDatums, readTrajectories } from "../../packages/train-bridge/src/index.ts";

export type Target = {
  readonly name: string;
  /** Share of all inputs. */
  readonly share: number;
  readonly examples: readonly Uint8Array[];
  readonly words: readonly string[];
  readonly feed: (bytes: Uint8Array) => unknown;
  /** Errors that are this target's own way to refuse. */
  readonly refuses: (error: unknown) => boolean;
  /** Hostile texts of growing length, for which time must grow no faster; null = none. */
  readonly grow: ((n: number) => string) | null;
};

const never = (): boolean => false;
const toPerson = (error: unknown): boolean => error instanceof PersonError;
/** A sentence of ours, or what a library says of bytes: `verify` makes it a finding. */
/** Throws what names the field, or what JSON itself says. */
const byField = (error: unknown): boolean =>
  error instanceof SyntaxError || (error instanceof Error && error.name === "ZodError");
/** One sentence of ours: no class of the language's own. */
const bySentence = (error: unknown): boolean =>
  error instanceof Error && Object.getPrototypeOf(error) === Error.prototype;
const byError = (error: unknown): boolean =>
  error instanceof Error && !(error instanceof ReferenceError);

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const bytesOf = (...texts: readonly string[]): readonly Uint8Array[] =>
  texts.map((text) => encoder.encode(text));

const CALL =
  "Let me see.\n<tool_call>\n<function=code_interpreter>\n<parameter=code>\nprint(1 < 2)\n</parameter>\n</function>\n</tool_call>";
const TAGS = [
  "<tool_call>",
  "</tool_call>",
  "<function=code_interpreter>",
  "</function>",
  "<parameter=code>",
  "</parameter>",
  "```python\n",
  "```",
  "\u0085",
  " ",
];
const MATH = [
  "\\boxed{",
  "}",
  "{",
  "\\frac",
  "^",
  "\\sqrt",
  "%",
  "$",
  "\\text{",
  "\\left(",
  "1e9999",
  "-",
  "/",
  ",",
  "∞",
];
const ROW = '{"question":"What is 1+1?","answer":"2","id":"a","data_source":"made"}\n';

const COLUMNS = {
  id: null,
  question: "problem_id",
  answer: "termination",
  dataSource: null,
  answerForm: "plain",
} as const;

/** `run`: a good run folder. `scratch`: a folder of this process. */
export function allTargets(run: string, scratch: string): readonly Target[] {
  const step = join(run, "step-000000");
  const read = (name: string): Uint8Array => Uint8Array.from(readFileSync(join(step, name)));
  const log = read("events.jsonl");
  const lines = decoder.decode(log).split("\n").slice(0, -1);
  const inFile = (name: string, use: (path: string) => Promise<unknown>) => (bytes: Uint8Array) => {
    const path = join(scratch, name);
    writeFileSync(path, bytes);
    return use(path);
  };
  const asText = (use: (text: string) => unknown) => (bytes: Uint8Array) =>
    use(decoder.decode(bytes));
  const drain = (rows: Iterable<unknown>): number => [...rows].length;
  return [
    {
      name: "dialect",
      share: 0.24,
      examples: bytesOf(CALL, `${CALL}\n${CALL}`, "So it is 42."),
      words: TAGS,
      feed: asText((text) => qwen3Coder.parse(text)),
      refuses: never,
      grow: (n) => "<tool_call><function=code_interpreter><parameter=code>".repeat(n),
    },
    {
      name: "boxed",
      share: 0.18,
      examples: bytesOf("It is \\boxed{42}.", "\\boxed{\\frac{1}{2}} and \\boxed{{a}}"),
      words: MATH,
      feed: asText(extractBoxed),
      refuses: never,
      grow: (n) => "\\boxed{{".repeat(n),
    },
    {
      name: "native",
      share: 0.12,
      examples: bytesOf("\\frac{3}{4}", "1,234.50", "x^2+1", "50\\%", "(1, 2]"),
      words: MATH,
      feed: asText((text) => compareNatively(text, "42")),
      refuses: never,
      grow: (n) => "\\frac{1}{".repeat(n),
    },
    {
      name: "jsonl",
      share: 0.16,
      examples: bytesOf(ROW.repeat(3), '{"problem":"?","solution":"#### 4"}\n\n[1]\n'),
      words: ['{"', '":', "null", "[[[[", "\u2028", "\\ud800", "1e400"],
      feed: asText((text) => readProblems(parseJsonl(text).records)),
      refuses: bySentence,
      grow: (n) => ROW.repeat(n),
    },
    {
      name: "event line",
      share: 0.13,
      examples: lines.map((line) => encoder.encode(line)),
      words: ['"ids":"', "null", "-1", '"type":"sampled"', "AAAA", "1e400"],
      feed: asText((text) => parseLogLine(JSON.parse(text))),
      refuses: byField,
      grow: null,
    },
    {
      name: "event log",
      share: 0.04,
      examples: [log, log.slice(0, 3000)],
      words: ["\n", "\n\n", '{"v":1}\n', '"seq":0'],
      feed: inFile("events.jsonl", readEventLog),
      refuses: toPerson,
      grow: (n) => `${lines.join("\n")}\n`.repeat(1).concat("x".repeat(n * 1000)),
    },
    {
      name: "toml",
      share: 0.05,
      examples: bytesOf(
        '[rollout]\ngroup_size = 4\n[sampler]\nkind = "vllm"\nurl = ["http://a", "http://b"]\n',
      ),
      words: ["[[", "]]", '"""', "'''", " = ", "1979-05-27", "inf", "0x"],
      feed: inFile("a.toml", readConfigFile),
      refuses: toPerson,
      grow: (n) => `a = ${"[".repeat(n)}`,
    },
    {
      name: "csv",
      share: 0.03,
      examples: bytesOf('question,answer\n"1+1, or ""so""?",2\n3+3?,6\n'),
      words: ['"', ",", "\r\n", "\ufeff"],
      feed: inFile("a.csv", (path) => readProblemFile(path, null)),
      refuses: toPerson,
      grow: (n) => `question,answer\n${'"a""b",1\n'.repeat(n)}`,
    },
    {
      name: "parquet",
      share: 0.01,
      examples: [Uint8Array.from(readFileSync(join(import.meta.dir, "sample.parquet")))],
      words: ["PAR1"],
      feed: inFile("a.parquet", (path) => readProblemFile(path, null)),
      refuses: toPerson,
      grow: null,
    },
    {
      name: "arrow problems",
      share: 0.01,
      examples: [read("trajectories.arrow")],
      words: ["ARROW1"],
      feed: inFile("a.arrow", (path) => readProblemFile(path, COLUMNS)),
      refuses: toPerson,
      grow: null,
    },
    {
      name: "datums",
      share: 0.015,
      examples: [read("datums.arrow")],
      words: ["ARROW1"],
      feed: (bytes) => drain(readDatums(bytes).microBatches),
      refuses: byError,
      grow: null,
    },
    {
      name: "trajectories",
      share: 0.013,
      examples: [read("trajectories.arrow")],
      words: ["ARROW1"],
      feed: (bytes) => drain(readTrajectories(bytes).rows),
      refuses: byError,
      grow: null,
    },
    verifyTarget(run, scratch),
  ];
}

/** A whole run with one damaged file: a report, or one line for a person; never anything else. */
function verifyTarget(run: string, scratch: string): Target {
  const names = [
    "run.json",
    "metrics.jsonl",
    "step-000000/events.jsonl",
    "step-000000/datums.arrow",
    "step-000000/trajectories.arrow",
    "step-000000/ledger.json",
  ];
  const folder = join(scratch, "run");
  mkdirSync(join(folder, "step-000000"), { recursive: true });
  const good = new Map(names.map((name) => [name, Uint8Array.from(readFileSync(join(run, name)))]));
  const silent = { write: () => {}, isTTY: false, columns: 100 };
  const terminal = createTerminal(silent, silent, {});
  // The first byte says which file the rest is.
  const examples = names.map((name, i) => Uint8Array.of(i, ...(good.get(name) as Uint8Array)));
  return {
    name: "verify",
    share: 0.002,
    examples,
    words: ["ARROW1", "\n", "null", "-1"],
    async feed(bytes) {
      const which = names[(bytes[0] ?? 0) % names.length] as string;
      for (const name of names) {
        writeFileSync(
          join(folder, name),
          name === which ? bytes.subarray(1) : (good.get(name) as Uint8Array),
        );
      }
      return verifyWork(terminal, { json: true, out: scratch, findings: 3 }, folder);
    },
    refuses: toPerson,
    grow: null,
  };
}
