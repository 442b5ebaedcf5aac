/**
 * A failure is data: something outside broke, and the trajectory that needed it carries this record.
 * Only bugs throw.
 */
export type Failure = {
  readonly ok: false;
  readonly boundary: "sampler" | "sandbox" | "grader";
  /** One short word of the port's vocabulary, counted in the ledger (`server_error`, `drift`, …). */
  readonly cause: string;
  /** One sentence for a person: what was expected, what was seen. */
  readonly detail: string;
};

export function fail(boundary: Failure["boundary"], cause: string, detail: string): Failure {
  return { ok: false, boundary, cause, detail };
}

/** `sampler:server_error`: what lost trajectories are counted by. */
export function failureName({ boundary, cause }: Pick<Failure, "boundary" | "cause">): string {
  return `${boundary}:${cause}`;
}
