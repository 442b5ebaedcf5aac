/** In: everything that was opened. Out: nothing, or why it cannot work together – before anything is sampled. */
import type { MathExample, Protocol, SamplerIdentity } from "@interlace/core";
import type { Config } from "../config/schema.ts";
import { wrongUse } from "../person-error.ts";

export function checkPlan(
  { rollout, learner }: Config,
  identity: SamplerIdentity,
  tokenizerVocab: number,
): void {
  const { maxTrajectoryTokens } = rollout;
  const { contextLength, vocabSize, kind } = identity;
  if (contextLength !== null && maxTrajectoryTokens > contextLength) {
    throw wrongUse(
      `rollout.max_trajectory_tokens is ${maxTrajectoryTokens}, the ${kind} sampler's context holds ${contextLength} tokens: ` +
        (kind === "embedded"
          ? "name a server with --sampler and --url, or leave --preset out"
          : `set it to at most ${contextLength}`),
    );
  }
  // A datum is one token shorter than its trajectory, its last token being only a target (fault 5).
  const { maxContextTokens } = learner;
  if (maxContextTokens !== null && maxTrajectoryTokens - 1 > maxContextTokens) {
    throw wrongUse(
      `rollout.max_trajectory_tokens is ${maxTrajectoryTokens}, learner.max_context_tokens is ${maxContextTokens}: ` +
        "a trajectory could be longer than the learner takes; make them one number",
    );
  }
  if (tokenizerVocab > vocabSize) {
    throw wrongUse(
      `The tokenizer names ${tokenizerVocab} ids, the model has ${vocabSize} rows: it is not the tokenizer of this model`,
    );
  }
}

/** `run.over_long_prompts = "refuse"`: a first prompt that leaves no token stops everything, and is named. */
export function refuseOverLongPrompts(
  { run, rollout }: Config,
  problems: readonly MathExample[],
  protocol: Pick<Protocol, "firstPrompt">,
): void {
  if (run.overLongPrompts !== "refuse") return;
  const limit = rollout.maxTrajectoryTokens;
  const lengths = problems.map(({ question }) => protocol.firstPrompt(question).length);
  const tooLong = lengths.flatMap((length, i) => (length < limit ? [] : [i]));
  const [first] = tooLong;
  if (first === undefined) return;
  throw wrongUse(
    `${tooLong.length} of ${problems.length} first prompts leave no token of rollout.max_trajectory_tokens = ${limit} ` +
      `(problem ${problems[first]?.id}: ${lengths[first]} tokens): raise it, leave them out with ` +
      'data.max_question_characters, or set run.over_long_prompts = "settle"',
  );
}
