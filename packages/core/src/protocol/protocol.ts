import type { ParsedTurn } from "./dialects/dialect.ts";

/**
 * Everything the loop needs to know of a model's language: ids in, ids out.
 * Built once per run from tokenizer, chat template, dialect and prompts; pure and synchronous.
 */
export type Protocol = {
  /** Ids of `[system, user]` with the tool declared, up to and including the generation prefix. */
  firstPrompt(question: string): Int32Array;
  /** Ids at which a turn stops; empty when the tokenizer has no EOS. */
  readonly stopIds: readonly number[];
  /** Ids that the model's vocabulary names: `[0, vocabSize)`. */
  readonly vocabSize: number;
  /** Text of a completion: special tokens skipped (the dialect's markers kept), Python-stripped. */
  decodeTurn(ids: Int32Array): string;
  /** Linear time, never throws. */
  parse(text: string): ParsedTurn;
  /** Does the text open a call (the literal marker of the dialect)? For metrics. */
  opensCall(text: string): boolean;
  /** Tokens of a text encoded as plain text: no added token is recognised. */
  countPlain(text: string): number;
  /**
   * D_i: the missing part of the closing, the observation, the next generation prefix.
   * `toolStep` counts observations joined before this one.
   */
  joinObservation(completion: Int32Array, content: string, toolStep: number): Int32Array;
};
