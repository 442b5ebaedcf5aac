import { describe, expect, test } from "bun:test";
import {
  aggregateTrainer,
  captured,
  fail,
  measureStep,
  prepareStep,
  type ExecStatus,
  type ToolCall,
} from "../../src/index.ts";
import { handGroup, RIGHT, UNSCORED, WRONG } from "../support/hand-built.ts";

const BROKEN = fail("sandbox", "sandbox_error", "The worker died");

function call(n: number, status: ExecStatus | null, seconds: number, joined: boolean): ToolCall {
  return {
    id: `code-0-0-${n}`,
    turn: n - 1,
    code: "print(6*7)",
    result:
      status === null
        ? BROKEN
        : {
            ok: true,
            status,
            exitCode: null,
            signal: null,
            limit: null,
            stdout: captured("42\n"),
            stderr: captured(""),
            usage: {
              queuedSeconds: 9,
              wallSeconds: seconds,
              cpuSeconds: null,
              peakMemoryBytes: null,
            },
          },
    content: joined ? "42\n" : null,
    truncated: false,
  };
}

const prompt = [1, 2];
const groups = [
  handGroup(0, [
    {
      // Two calls opened, one observation joined; the last turn was cut.
      turns: [
        { before: prompt, sampled: [3, 4], opensCall: true },
        { before: [5], sampled: [6], opensCall: true, finish: "length" },
      ],
      toolCalls: [call(1, "ok", 1, true), call(2, "cpu_limit", 3, false)],
      grade: WRONG,
      termination: "observation_over_budget",
    },
    { turns: [{ before: prompt, sampled: [7] }], grade: RIGHT },
    {
      // Cut in an earlier turn only.
      turns: [
        { before: prompt, sampled: [8], opensCall: true, finish: "length" },
        { before: [5], sampled: [9], opensCall: false },
      ],
      toolCalls: [call(1, "killed", 2, true)],
      grade: WRONG,
    },
  ]),
  // Nobody scored: not among the problems of the degenerate rate.
  handGroup(1, [
    {
      turns: [{ before: prompt, sampled: [3], opensCall: true }],
      toolCalls: [call(1, null, 0, false)],
      grade: UNSCORED,
      termination: "tool_failed",
      failure: BROKEN,
    },
    { turns: [], grade: UNSCORED, termination: "sampler_failed" },
    { turns: [], grade: UNSCORED, termination: "sampler_failed" },
  ]),
  // All wrong.
  handGroup(2, [{ turns: [], grade: WRONG, termination: "prompt_over_budget" }]),
];

describe("the metrics of a step", () => {
  const metrics = measureStep(prepareStep(groups, { maxContextTokens: 100 }));

  test("count each over its own population", () => {
    expect(metrics).toEqual({
      // Over the 4 scored.
      "reward/mean": (-1 + 1 - 1 - 1) / 4,
      "reward/correct": 1 / 4,
      "reward/format": 1,
      // Over all 7.
      "rollout/turns": (2 + 1 + 2 + 1) / 7,
      "rollout/code_calls": 2 / 7,
      // Over the 4 with turns: 6, 3, 5, 3 tokens.
      "rollout/trajectory_tokens": (6 + 3 + 5 + 3) / 4,
      "rollout/valid_tool_call_rate": 2 / 4,
      "rollout/degenerate_group_rate": 1 / 2,
      "rollout/truncated_rate": 1 / 7,
      "train/datums_per_rollout_batch": 3,
      "train/micro_batches_per_step": 1,
      "train/tokens_per_rollout_batch": 5 + 2 + 4,
      "train/mean_datum_tokens": 11 / 3,
      "train/loss_tokens_per_rollout_batch": 3 + 1 + 2,
      "train/padded_tokens_per_rollout_batch": 15,
      "train/max_micro_batch_padded_tokens": 15,
      "train/update_skipped": 0,
      // Over the 3 runs of the code, joined or not: a sandbox that broke is no run of it.
      "sandbox/success_rate": 1 / 3,
      "sandbox/error_rate": 1 / 3,
      "sandbox/timeout_rate": 1 / 3,
      "sandbox/latency": (1 + 3 + 2) / 3,
    });
  });

  test("are all there, and 0, when nothing was rolled out", () => {
    const empty = measureStep(prepareStep([], { maxContextTokens: 100 }));
    expect(Object.keys(empty)).toEqual(Object.keys(metrics));
    expect(empty["train/update_skipped"]).toBe(1);
    expect(Object.values(empty).filter((value) => value !== 0)).toEqual([1]);
  });
});

describe("the trainer's metrics", () => {
  test("sum loss means, average the rest, and leave out what is no number", () => {
    const metrics = aggregateTrainer([
      { loss: 0.5, policy_loss: 1, "kl:mean": 0.25, loss_tokens: 10, note: "x", ok: true },
      { loss: 0.25, policy_loss: 2, "kl:mean": 0.75, loss_tokens: 30, clip_fraction: 0.5 },
    ]);
    expect(metrics).toEqual({
      "trainer/loss": 0.75,
      "trainer/policy_loss": 3,
      "trainer/kl:mean": 0.5,
      "trainer/loss_tokens": 20,
      "trainer/clip_fraction": 0.5,
    });
  });

  test("keep a NaN", () => {
    expect(aggregateTrainer([{ loss: 1 }, { loss: NaN }])["trainer/loss"]).toBeNaN();
  });
});
