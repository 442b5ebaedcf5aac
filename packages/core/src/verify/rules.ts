/** Every rule that an export is held to, by name; the name is what `verify` prints and what tests pin. */
export const RULES = {
  lengths: "token columns of a row are equally long",
  shift: "target_tokens are input_tokens, one position later",
  ids_in_vocab: "token ids lie in [0, vocab_size)",
  mask_binary: "loss_mask is 0 or 1, with at least one 1",
  logprobs: "old_logprobs are finite and ≤ 1e-4 where the mask is 1, exactly 0 elsewhere",
  advantages: "advantages are one non-zero number where the mask is 1, exactly 0 elsewhere",
  advantage_value: "the advantage is what the estimator makes of the rewards",
  turn_ends: "turn_ends rise, one per turn, the last one at the end of the row",
  mask_turns: "what the mask trains on ends where a turn ends",
  budget: "no row is longer than max_context_tokens, no turn ends past max_trajectory_tokens",
  identity: "step, question_index and group_index name each row once, within the group size",
  outcome: "reward, correct, valid_format, final_answer and termination agree",
  versions: "weight versions cover the sampled tokens in order",
  micro_batch: "micro-batches are numbered from 0 without gaps, their rows longest first",
  sample_weight: "sample_weight is float32(n_k / N)",
  group_stats: "group_mean and group_scored agree within a group and with its rewards",
  spans: "spans cover the tokens without gap or overlap, context first",
  mask_sampled:
    "datums hold exactly the trajectory's tokens, and train on exactly what was sampled",
  prefix: "each turn's prompt is everything before it, token for token",
  group_complete: "every question has all its trajectories",
  exported: "every trajectory with a signal is a datum, every other one says why not",
  metrics: "metrics recomputed from the trajectories are those logged",
  ledger: "the ledger recomputed from the trajectories is the one written, and it balances",
  text: "texts are what the ids decode to",
  template: "context and observation tokens are what the chat template gives",
  grade: "the verdict stands for the box that the text holds",
  event_log: "the event log, stepped again, gives these trajectories",
  readable: "the file can be read to its end",
} as const;

export type Rule = keyof typeof RULES;
