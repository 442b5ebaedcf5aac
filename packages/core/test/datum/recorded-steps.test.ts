/** The `step` part of the recorded rollouts, from groups that are put together by hand from the same rows. */
import { describe, expect, test } from "bun:test";
import {
  DEFAULT_PACKING,
  datumLength,
  measureStep,
  prepareStep,
  projectMicroBatch,
  scaleAdvantages,
} from "../../src/index.ts";
import { sha256 } from "../support/hand-built.ts";
import { groupsOf, recordedSteps } from "../support/recorded-step.ts";

const rows = await recordedSteps();

test("77 recorded rows have a step", () => expect(rows.length).toBe(77));

describe.each(rows.map((row) => [`${row.id} ${row.name}`, row] as const))("%s", (_, row) => {
  const { want, input } = row;
  const step = prepareStep(groupsOf(row), {
    maxContextTokens: input.config.max_trajectory_tokens,
    packing: {
      maxItems: input.packing.max_items ?? DEFAULT_PACKING.maxItems,
      maxPaddedTokens: input.packing.max_padded_tokens,
    },
  });

  test("rewards and advantages", () => {
    expect(
      step.trajectories.map(({ group, member, score, advantage }) => ({
        question_index: group.question,
        group_index: member.index,
        reward: score?.reward,
        advantage,
      })),
    ).toEqual(
      want.trajectories.map(({ question_index, group_index, reward, advantage }) => ({
        question_index,
        group_index,
        reward,
        advantage,
      })),
    );
  });

  test("micro-batches and weights", () => {
    expect(step.microBatches.map(({ items }) => items)).toEqual(want.step.micro_batches);
    expect(step.microBatches.map(({ weight }) => weight)).toEqual(want.step.weights_f32);
  });

  test("every array of every datum", () => {
    const seen = step.microBatches.flatMap((batch, k) =>
      projectMicroBatch(step, batch).map((datum, i) => {
        const source = step.datums[batch.items[i] ?? -1];
        return {
          place: [source?.group.question, source?.member.index],
          tokens: datum.inputTokens.length,
          input: sha256(datum.inputTokens),
          target: sha256(datum.targetTokens),
          logprobs: sha256(datum.oldLogprobs),
          advantages: sha256(datum.advantages),
          scaled: sha256(scaleAdvantages(datum.advantages, batch.weight)),
          mask: maskRuns(datum.lossMask),
          k,
        };
      }),
    );
    const recorded = want.step.micro_batches.flatMap((items, k) =>
      items.map((index, i) => {
        const datum = want.step.datums[index];
        return {
          place: [datum?.question_index, datum?.group_index],
          tokens: datum?.num_tokens,
          input: datum?.input_sha256,
          target: datum?.target_sha256,
          logprobs: datum?.logprobs_f32_sha256,
          advantages: datum?.advantages_f32_sha256,
          scaled: want.step.scaled_advantages_f32_sha256[k]?.[i],
          mask: datum?.mask_runs,
          k,
        };
      }),
    );
    expect(seen).toEqual(recorded as typeof seen);
  });

  test("metrics", () => {
    const { "rollout/truncated_rate": ours, ...named } = measureStep(step);
    expect(ours).toBe(0);
    expect(Object.keys(named)).toEqual(Object.keys(want.step.metrics));
    for (const [name, value] of Object.entries(want.step.metrics)) {
      expect([name, named[name]]).toEqual([name, expect.closeTo(value, 12)]);
    }
  });

  test("lengths come from turns alone", () => {
    expect(step.datums.map(({ member }) => datumLength(member))).toEqual(
      want.step.datums.map(({ num_tokens }) => num_tokens),
    );
  });
});

function maskRuns(mask: Uint8Array): [number, number][] {
  const runs: [number, number][] = [];
  for (let at = mask.indexOf(1); at !== -1;) {
    const end = mask.indexOf(0, at);
    const stop = end === -1 ? mask.length : end;
    runs.push([at, stop - at]);
    at = mask.indexOf(1, stop);
  }
  return runs;
}
