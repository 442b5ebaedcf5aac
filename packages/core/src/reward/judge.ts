/**
 * What decides whether two answers are the same: a predicate with two ways of not knowing.
 * Refuses to know: where in a text the answer stands.
 */

/** `unsure` passes the pair on; `unscored` is final: this judge should have known and could not. */
export type Verdict =
  | { readonly kind: "equal" }
  | { readonly kind: "different" }
  | { readonly kind: "unsure" }
  | { readonly kind: "unscored"; readonly reason: string; readonly detail: string };

/** Is `prediction` what `reference` says? Both are stripped. */
export interface Judge {
  /** `native`, `math_verify`, `aime_integer`, …: recorded with each grade. */
  readonly name: string;
  /** Never throws for anything in the texts; rejects only on abort. */
  judge(reference: string, prediction: string, signal: AbortSignal): Promise<Verdict>;
}
