/**
 * The last gate before anything enters a trajectory (invariant 1). In: what a sampler answered. Out: exactly
 * `samples` entries, each sound or a failure with its cause. One bad sequence never takes its siblings with it.
 */
import { fail, type Failure } from "../ports/failure.ts";
import type { SampleRequest, Sequence } from "../ports/sampler.ts";
import { isLogprob, LOGPROB_RANGE } from "../tokens/logprob.ts";

export type AnswerLimits = {
  /** Ids must lie in `[0, vocabSize)`: the model's rows. */
  readonly vocabSize: number;
};

export function checkAnswer(
  request: Pick<SampleRequest, "samples" | "maxTokens">,
  answer: readonly (Sequence | Failure)[],
  limits: AnswerLimits,
): readonly (Sequence | Failure)[] {
  if (answer.length !== request.samples) {
    const detail = `Expected ${request.samples} sequences, got ${answer.length}`;
    const failure = fail("sampler", "incomplete", detail);
    return Array.from({ length: request.samples }, () => failure);
  }
  return answer.map((sequence) =>
    sequence.ok ? checkSequence(sequence, request.maxTokens, limits) : sequence,
  );
}

/** The sequence itself, or why it must not be trained on. */
export function checkSequence(
  sequence: Sequence,
  maxTokens: number,
  { vocabSize }: AnswerLimits,
): Sequence | Failure {
  const { ids, logprobs } = sequence;
  if (ids.length !== logprobs.length) {
    const detail = `Expected one logprob per id, got ${ids.length} ids and ${logprobs.length} logprobs`;
    return fail("sampler", "invalid_logprobs", detail);
  }
  if (ids.length > maxTokens) {
    const detail = `Expected at most ${maxTokens} tokens, got ${ids.length}`;
    return fail("sampler", "invalid_tokens", detail);
  }
  for (let i = 0; i < ids.length; i++) {
    const id = ids[i] as number;
    if (id < 0 || id >= vocabSize) {
      const detail = `Token ${i} has id ${id}, expected 0 ≤ id < ${vocabSize}`;
      return fail("sampler", "invalid_tokens", detail);
    }
    const logprob = logprobs[i] as number;
    if (!isLogprob(logprob)) {
      const detail = `Token ${i} has logprob ${logprob}, expected ${LOGPROB_RANGE}`;
      return fail("sampler", "invalid_logprobs", detail);
    }
  }
  return sequence;
}
