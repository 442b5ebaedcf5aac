/** The default dialect: causes of invalid calls, totality, and work that grows with the text only. */
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { qwen3Coder } from "../../src/protocol/dialects/qwen3-coder.ts";
import { textOnly } from "../../src/protocol/dialects/text-only.ts";

const OPEN = "<tool_call>\n<function=code_interpreter>\n<parameter=code>\n";
const CLOSE = "\n</parameter>\n</function>\n</tool_call>";
const CALL = `${OPEN}print(1)${CLOSE}`;

describe("causes", () => {
  test.each([
    ["unclosed_call", `${OPEN}print(1)`],
    ["unclosed_call", "use <tool_call> for that"],
    ["unclosed_call", "<tool_call>\n<function=code_inter"],
    ["unclosed_call", `${OPEN}print(1)\n</parameter>\n</tool_call>`],
    ["several_calls", `${CALL}\n${CALL}`],
    ["several_calls", `${CALL} and ${CALL} and`],
    ["text_after_call", `${CALL}\nThe answer is 1.`],
    ["text_after_call", `${OPEN}${CLOSE}done`],
    ["empty_code", `${OPEN} \n\t${CLOSE}`],
    ["unknown_tool", "<tool_call>\n<function=python>\n<parameter=code>\n1\n</parameter>"],
    ["unknown_tool", "a <tool_call> is <tool_call><function=code_interpreter >"],
    ["bad_arguments", "<tool_call><function=code_interpreter><parameter=source>1</parameter>"],
    ["bad_arguments", "<tool_call><function=code_interpreter></function></tool_call>"],
  ])("%s: %j", (cause, text) => {
    expect(qwen3Coder.parse(text)).toEqual({
      kind: "invalid",
      content: text.trim(),
      cause,
    } as never);
  });
});

describe("calls", () => {
  test("the text before is reasoning, an opening that leads nowhere belongs to it", () => {
    expect(qwen3Coder.parse(`I open <tool_call> so:\n\n${CALL}`)).toEqual({
      kind: "tool",
      content: "I open <tool_call> so:",
      code: "print(1)",
    });
  });

  test("whatever lies before the first complete closing is code", () => {
    const code = 'print("</parameter> </function>")\nx = "<tool_call>"';
    expect(qwen3Coder.parse(OPEN + code + CLOSE)).toEqual({ kind: "tool", content: "", code });
  });

  test("lines that end in carriage returns lose their common indent, too", () => {
    const parsed = qwen3Coder.parse(`${OPEN}  a = 1\r  print(a)${CLOSE}`);
    expect(parsed).toEqual({ kind: "tool", content: "", code: "a = 1\rprint(a)" });
  });
});

const SHARDS = [
  "<tool_call>",
  "<function=code_interpreter>",
  "<function=",
  "<parameter=code>",
  "</parameter>",
  "</function>",
  "</tool_call>",
  "\n",
  "  ",
  "\u0085",
  "\ud800",
  ">",
  "x = 1",
];

test("any text is parsed: one call is a call, everything else has its kind", () => {
  const text = fc.string({ unit: fc.constantFrom(...SHARDS), maxLength: 40 });
  fc.assert(
    fc.property(text, (input) => {
      const parsed = qwen3Coder.parse(input);
      if (!input.includes("<tool_call>")) expect(parsed.kind).toBe("answer");
      if (parsed.kind === "tool") {
        expect(parsed.code).not.toBe("");
        expect(input).toContain("</tool_call>");
      }
    }),
    { numRuns: 2000 },
  );
});

test("a call survives any reasoning without tags before it", () => {
  fc.assert(
    fc.property(fc.string(), (reasoning) => {
      fc.pre(!reasoning.includes("<tool_call>"));
      const parsed = qwen3Coder.parse(reasoning + CALL);
      expect(parsed.kind).toBe("tool");
    }),
  );
});

type Method = (...args: readonly unknown[]) => unknown;

/** Characters that each string method looks at: a count, not a time. */
const COSTS: Readonly<
  Record<string, (text: string, args: readonly unknown[], out: unknown) => number>
> = {
  charCodeAt: () => 1,
  startsWith: (_text, [search]) => String(search).length,
  slice: (_text, _args, out) => String(out).length,
  indexOf: (text, [, from], out) =>
    (Number(out) < 0 ? text.length : Number(out)) - Number(from ?? 0) + 1,
};

function countWork(run: () => void): number {
  let work = 0;
  const originals = Object.keys(COSTS).map(
    (name) => [name, Reflect.get(String.prototype, name) as Method] as const,
  );
  for (const [name, original] of originals) {
    Reflect.set(String.prototype, name, function counted(this: string, ...args: unknown[]) {
      const out = Reflect.apply(original, this, args);
      work += COSTS[name]?.(this, args, out) ?? 0;
      return out;
    });
  }
  try {
    run();
  } finally {
    for (const [name, original] of originals) Reflect.set(String.prototype, name, original);
  }
  return work;
}

describe("work grows with the length of the text, not with its square", () => {
  test.each([
    ["openings", (n: number) => "<tool_call>".repeat(n)],
    ["openings of a function", (n: number) => "<tool_call><function=".repeat(n)],
    ["whole openings", (n: number) => OPEN.repeat(n)],
    ["openings and blanks", (n: number) => `<tool_call>${" ".repeat(9)}`.repeat(n)],
    ["closings of a parameter", (n: number) => OPEN + "</parameter>\n".repeat(n)],
    ["two closings of three", (n: number) => OPEN + "</parameter> </function> ".repeat(n)],
    ["blanks after an opening", (n: number) => `<tool_call>${" ".repeat(n)}x`],
    ["blanks everywhere", (n: number) => `${OPEN}${"\n ".repeat(n)}${CLOSE}${" ".repeat(n)}`],
    ["calls", (n: number) => CALL.repeat(n)],
    ["indented lines", (n: number) => `${OPEN}${`${" ".repeat(20)}x\n`.repeat(n)}${CLOSE}`],
    ["deeper and deeper lines", (n: number) => `${OPEN}${"\n".repeat(n)}${" ".repeat(n)}x${CLOSE}`],
  ])("%s", (_name, make) => {
    const [short, long] = [make(1000), make(8000)];
    const work = countWork(() => qwen3Coder.parse(short));
    const more = countWork(() => qwen3Coder.parse(long));
    expect(work).toBeGreaterThan(0);
    expect(more / work).toBeLessThan((long.length / short.length) * 1.5);
    expect(more).toBeLessThan(long.length * 30);
  });
});

test("without a tool every text is an answer", () => {
  expect(textOnly.parse(` ${CALL} `)).toEqual({ kind: "answer", content: CALL });
});
