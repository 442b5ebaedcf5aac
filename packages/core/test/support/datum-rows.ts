/** Datum rows of a scripted step, as a reader of `datums.arrow` would hand them out. */
import {
  collect,
  concatIds,
  messagesOf,
  prepareStep,
  projectMicroBatch,
  turnText,
  type DatumFacts,
  type DatumRow,
  type Protocol,
  type StepDatums,
  type TrajectoryRow,
} from "../../src/index.ts";
import { problem, scriptedPorts, toyPlan } from "./scripted-world.ts";
import { TOY_VOCAB } from "./toy-protocol.ts";

const MAX_CONTEXT = 400;

export const STEP_OPTIONS = {
  maxContextTokens: MAX_CONTEXT,
  packing: { maxItems: 3, maxPaddedTokens: 1000 },
};

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
  return prepareStep(groups, STEP_OPTIONS);
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

/** Trajectory rows of a scripted step, as a reader of `trajectories.arrow` would hand them out. */
export function trajectoryRowsOf(step: StepDatums, protocol: Protocol): TrajectoryRow[] {
  return step.trajectories.map(({ group, member, score, advantage, noDatum }): TrajectoryRow => {
    const { grade, termination } = member.phase;
    let start = 0;
    return {
      step: 0,
      questionIndex: group.question,
      groupIndex: member.index,
      problemId: group.problem.id,
      dataSource: group.problem.dataSource,
      reward: score?.reward ?? null,
      correct: score?.correct ?? null,
      validFormat: score?.validFormat ?? null,
      advantage,
      finalAnswer: score?.answer ?? null,
      termination,
      codeCalls: member.codeCalls,
      noDatum,
      messages: [
        { role: "user", content: group.problem.question },
        ...messagesOf(protocol, member),
      ],
      tokens: concatIds(member.tokens),
      spans: member.tokens.segments.map(({ kind, ids }) => {
        start += ids.length;
        return { kind, start: start - ids.length, length: ids.length };
      }),
      logprobs: Float32Array.from(
        member.tokens.segments.flatMap(({ logprobs }) => [...(logprobs ?? [])]),
      ),
      turns: member.turns.map((turn, i) => ({
        prompt_length: turn.promptLength,
        length: turn.length,
        text: turnText(protocol, member, i),
        finish: turn.finish,
        seed: turn.seed,
        versions: turn.versions,
        parsed: turn.parsed,
        invalid_cause: turn.invalidCause,
        opens_call: turn.opensCall,
        text_mismatch: turn.textMismatch,
      })),
      toolCalls: member.toolCalls.map(({ id, turn, code, result, content, truncated }) => ({
        id,
        turn,
        code,
        status: result.ok ? result.status : result.cause,
        content,
        truncated,
        usage: result.ok ? { wall_seconds: result.usage.wallSeconds } : null,
      })),
      grade: {
        kind: grade.kind,
        answer: grade.kind === "unscored" ? null : grade.answer,
        by: grade.kind === "unscored" ? null : grade.by,
        reason: grade.kind === "unscored" ? grade.reason : null,
        detail: grade.kind === "unscored" ? grade.detail : null,
      },
      failure: member.failure,
    };
  });
}
