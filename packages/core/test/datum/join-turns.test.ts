import { expect, test } from "bun:test";
import { concatIds, joinTurns, type WholeTurn } from "../../src/index.ts";

function turn(prompt: readonly number[], completion: readonly number[]): WholeTurn {
  return {
    prompt: Int32Array.from(prompt),
    completion: Int32Array.from(completion),
    logprobs: Float32Array.from(completion, () => -1),
  };
}

test("whole prompts become context, sampled and observed segments", () => {
  const tokens = joinTurns([turn([1, 2], [3]), turn([1, 2, 3, 4, 5], [6, 7])]);
  expect(tokens.segments.map(({ kind, ids }) => [kind, ...ids])).toEqual([
    ["context", 1, 2],
    ["sampled", 3],
    ["observed", 4, 5],
    ["sampled", 6, 7],
  ]);
  expect([...concatIds(tokens)]).toEqual([1, 2, 3, 4, 5, 6, 7]);
});

test("a prompt that was encoded anew is refused with the turn and the first differing position", () => {
  expect(() => joinTurns([turn([1, 2], [3, 4]), turn([1, 2, 9, 4, 5], [6])])).toThrow(
    "Turn 1: expected a prompt that extends the 4 tokens so far, got token 9 instead of token 3 at position 2",
  );
});

test("a prompt that lost its end is refused", () => {
  expect(() => joinTurns([turn([1, 2], [3, 4]), turn([1, 2, 3], [6])])).toThrow(
    "got its end instead of token 4 at position 3",
  );
});
