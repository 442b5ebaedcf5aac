/**
 * Three-valued on purpose: a grader that could not decide is not a wrong answer.
 * `answer` is the text inside the last `\boxed{}`; null = no valid format, which is always `different`.
 */
export type Grade =
  | { readonly kind: "equal"; readonly answer: string; readonly by: string }
  | { readonly kind: "different"; readonly answer: string | null; readonly by: string }
  | { readonly kind: "unscored"; readonly reason: string; readonly detail: string };

export interface Grader {
  /** Never throws for anything in the texts; rejects only on abort. */
  grade(finalText: string, answer: string, signal: AbortSignal): Promise<Grade>;
}
