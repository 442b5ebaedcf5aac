/**
 * Fitting of recorded observations: the longest tail that keeps both limits. Rows marked `not_monotone`
 * may end on another tail that fits and is not longer.
 */
import { expect, test } from "bun:test";
import { fitObservation, TRUNCATION_LINE } from "../../src/index.ts";
import { readVector } from "../support/read-vector.ts";
import { recordedProtocol, type RecordedNames } from "../support/real-tokenizers.ts";

type Fitted =
  | {
      readonly fits: true;
      readonly content: string;
      readonly delta_ids: readonly number[];
      readonly next_prompt_tokens: number;
    }
  | { readonly fits: false }
  | { readonly hangs: true };
type Row = {
  readonly id: string;
  readonly not_monotone?: boolean;
  readonly input: RecordedNames & {
    readonly content: string;
    readonly prompt_tokens: number;
    readonly completion_ids: readonly number[];
    readonly max_tool_response_tokens: number;
    readonly max_trajectory_tokens: number;
    readonly min_next_turn_tokens: number;
  };
  readonly expected: Fitted;
  readonly ours?: Fitted;
};

const rows = await readVector<Row>("observations.jsonl");

test("the file holds the recorded rows, 7 of them not monotone", () => {
  expect(rows.length).toBe(333);
  expect(rows.filter((row) => row.not_monotone === true).length).toBe(7);
});

test.each(rows.map((row) => [row.id, row] as const))("%s", async (_id, row) => {
  const { input } = row;
  const protocol = await recordedProtocol(input);
  const limits = {
    maxToolResponseTokens: input.max_tool_response_tokens,
    maxTrajectoryTokens: input.max_trajectory_tokens,
    minNextTurnTokens: input.min_next_turn_tokens,
  };
  const completion = Int32Array.from(input.completion_ids);
  const fitted = fitObservation(protocol, limits, {
    content: input.content,
    completion,
    promptLength: input.prompt_tokens,
    toolStep: 0,
  });
  const want = row.ours ?? row.expected;
  if ("hangs" in want) throw new Error("A row without a decided outcome");
  if (!want.fits || !fitted.fits) {
    expect(fitted.fits).toBe(want.fits);
    return;
  }
  const next = input.prompt_tokens + completion.length + fitted.delta.length;
  if (row.not_monotone === true && fitted.content !== want.content) {
    const [line, tail] = [`${TRUNCATION_LINE}\n`, fitted.content.slice(TRUNCATION_LINE.length + 1)];
    expect(fitted.content).toBe(line + tail);
    expect(tail.length).toBeGreaterThan(0);
    expect(want.content.endsWith(tail)).toBe(true);
    expect(protocol.countPlain(fitted.content)).toBeLessThanOrEqual(limits.maxToolResponseTokens);
    expect(next + limits.minNextTurnTokens).toBeLessThanOrEqual(limits.maxTrajectoryTokens);
    return;
  }
  expect(fitted.content).toBe(want.content);
  expect(Array.from(fitted.delta)).toEqual([...want.delta_ids]);
  expect(next).toBe(want.next_prompt_tokens);
  expect(fitted.truncated).toBe(fitted.content !== input.content);
});
