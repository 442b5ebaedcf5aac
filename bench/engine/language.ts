/**
 * What is said in the benchmark, on a real tokenizer and template (Qwen2.5): problems of one length, turns of one
 * length that call the tool or answer, what the tool prints. Made from words by a fixed rule; nothing is drawn.
 */
import type { MathExample, Protocol, Tokenizer } from "../../packages/core/src/index.ts";
import { openQwen } from "../support/qwen.ts";
import { GROUP_SIZE, SHAPES, TURNS, type ShapeName } from "./workload.ts";

export type BenchLanguage = {
  readonly tokenizer: Tokenizer;
  readonly protocol: Protocol;
  readonly problem: (shape: ShapeName, question: number) => MathExample;
  /** Ids that the server answers a turn with; even members are right, odd ones wrong. */
  readonly turn: (shape: ShapeName, turn: number, member: number) => Int32Array;
};

const WORDS =
  " the of and to in is that for as with on by this be we are it from or an at let sum number equal value then";
const CALL =
  "\n<tool_call>\n<function=code_interpreter>\n<parameter=code>\nprint(6*7)\n</parameter>\n</function>\n</tool_call><|im_end|>";

export async function openLanguage(): Promise<BenchLanguage> {
  const { tokenizer, protocol } = await openQwen();
  const words = [...tokenizer.encode(WORDS)];
  const prose = (tokens: number, from: number) =>
    Array.from({ length: tokens }, (_, i) => words[(i * 7 + from * 5) % words.length] ?? 0);
  const turn: BenchLanguage["turn"] = (shape, at, member) => {
    const end = [...tokenizer.encode(at < TURNS - 1 ? CALL : answer(member))];
    return Int32Array.from([
      ...prose(SHAPES[shape].sampled - end.length, at * GROUP_SIZE + member),
      ...end,
    ]);
  };
  const empty = protocol.firstPrompt(textOf(0, 0)).length;
  const problem: BenchLanguage["problem"] = (shape, question) => {
    const fill = SHAPES[shape].first - empty;
    if (fill < 0)
      throw new Error(
        `Expected a first prompt of at most ${SHAPES[shape].first} tokens, got ${empty}`,
      );
    return {
      id: `p${question}`,
      question: textOf(question, fill),
      answer: "42",
      dataSource: "bench",
    };
  };
  return { tokenizer, protocol, problem, turn };
}

/** What the tool prints. */
export function printed(tokens: number): string {
  return tokens === 1 ? "7" : " the".repeat(tokens).trim();
}

/** Five digits, so that every problem has the same number of tokens. */
function textOf(question: number, fill: number): string {
  return `Problem ${String(question).padStart(5, "0")}:${" word".repeat(fill)}`;
}

function answer(member: number): string {
  return `\nThe answer is \\boxed{${member % 2 === 0 ? 42 : 41}}<|im_end|>`;
}
