import { expect, test } from "bun:test";
import { findWaste, type Ledger } from "../../src/index.ts";

const CLEAN: Ledger = {
  trajectories: { total: 8, exported: 8, dropped: {} },
  sampledTokens: { total: 800, exported: 800, dropped: {} },
  terminations: { answer: 8 },
  invalidTurns: {},
  truncatedTurns: 0,
  truncatedObservations: 0,
  textMismatches: 0,
  sandboxRuns: { joined: 3, notJoined: 0 },
  retries: {},
};

test("nothing dropped and nothing cut short is no waste", () => {
  expect(findWaste(CLEAN)).toEqual([]);
});

test("drops come first, the dearest in tokens before the others, then ends by trajectories", () => {
  const ledger: Ledger = {
    ...CLEAN,
    trajectories: {
      total: 20,
      exported: 4,
      dropped: {
        zero_advantage: 8,
        "unscored:sampler_failed:server_error": 6,
        "unscored:answer:timeout": 2,
      },
    },
    sampledTokens: {
      total: 900,
      exported: 100,
      dropped: {
        zero_advantage: 300,
        "unscored:sampler_failed:server_error": 40,
        "unscored:answer:timeout": 460,
      },
    },
    terminations: { answer: 10, turns_exhausted: 1, code_calls_exhausted: 3, sampler_failed: 6 },
    truncatedTurns: 2,
  };
  expect(
    findWaste(ledger).map(({ cause, trajectories, sampledTokens, setting }) => [
      cause,
      trajectories,
      sampledTokens,
      setting,
    ]),
  ).toEqual([
    ["unscored:answer:timeout", 2, 460, "grading.timeout_seconds"],
    ["zero_advantage", 8, 300, "data.path"],
    ["unscored:sampler_failed:server_error", 6, 40, "sampler.retry.attempts"],
    ["code_calls_exhausted", 3, null, "rollout.max_code_calls"],
    ["truncated_turns", 2, null, "rollout.max_assistant_tokens"],
    ["turns_exhausted", 1, null, "rollout.max_assistant_turns"],
  ]);
});

test("what is no valid call is told by its most frequent causes", () => {
  const invalidTurns = { bad_arguments: 2, unclosed_call: 5, empty_code: 1, several_calls: 3 };
  const ledger: Ledger = {
    ...CLEAN,
    terminations: { answer: 1, invalid_format: 11 },
    invalidTurns,
  };
  expect(findWaste(ledger)).toEqual([
    {
      cause: "invalid_format",
      trajectories: 11,
      sampledTokens: null,
      setting: "protocol.dialect",
      advice:
        "what the model writes is no valid call (5 unclosed_call, 3 several_calls, 2 bad_arguments, …): interlace doctor --policy tells",
    },
  ]);
});

test("a cause of nobody's list is still told", () => {
  const ledger: Ledger = {
    ...CLEAN,
    trajectories: { total: 9, exported: 8, dropped: { carried_over: 1 } },
    sampledTokens: { total: 810, exported: 800, dropped: { carried_over: 10 } },
  };
  expect(findWaste(ledger)[0]).toMatchObject({
    cause: "carried_over",
    sampledTokens: 10,
    advice: "see the ledger",
  });
});
