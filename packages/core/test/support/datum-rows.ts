/** Datum rows of a scripted step, as a reader of `datums.arrow` would hand them out. */
import {
  collect,
  prepareStep,
  projectMicroBatch,
  type DatumFacts,
  type DatumRow,
  type StepDatums,
} from "../../src/index.ts";
import { problem, scriptedPorts, toyPlan } from "./scripted-world.ts";
import { TOY_VOCAB } from "./toy-protocol.ts";

const MAX_CONTEXT = 400;

/** Two questions × 4: tool calls, wrong and right answers, ragged lengths, three micro-batches. */
export async function scriptedStep(): Promise<StepDatums> {
  const { ports } = scriptedPorts({
    say: (question, group, turn) => {
      if (group % 2 === 0 && turn === 0) return "run:1";
      return group === question ? "it is 42" : `no ${"x".repeat(group)}`;
    },
  });
  const plan = toyPlan({ groupSize: 4, maxTrajectoryTokens: MAX_CONTEXT });
  const { groups } = await collect(plan, [problem("one"), problem("number two")], ports);
  const packing = { maxItems: 3, maxPaddedTokens: 1000 };
  return prepareStep(groups, { maxContextTokens: MAX_CONTEXT, packing });
}

export function factsOf(step: StepDatums): DatumFacts {
  return {
    groupSize: 4,
    vocabSize: TOY_VOCAB,
    maxContextTokens: MAX_CONTEXT,
    scoredSamples: step.scored,
    advantageEstimator: "group_centred",
  };
}

export function rowsOf(step: StepDatums): DatumRow[] {
  return step.microBatches.flatMap((batch, microBatch) => {
    const datums = projectMicroBatch(step, batch);
    return batch.items.map((item, i): DatumRow => {
      const source = step.datums[item];
      const datum = datums[i];
      if (source === undefined || datum === undefined) throw new Error(`No datum ${item}`);
      return {
        ...datum,
        step: 0,
        questionIndex: source.group.question,
        groupIndex: source.member.index,
        reward: source.score.reward,
        correct: source.score.correct,
        validFormat: source.score.validFormat,
        finalAnswer: source.score.answer,
        termination: source.member.phase.termination,
        turns: source.member.turns.length,
        codeCalls: source.member.codeCalls,
        microBatch,
        sampleWeight: batch.weight,
        groupMean: source.groupMean,
        groupScored: source.groupScored,
      };
    });
  });
}
