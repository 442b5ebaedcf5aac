/** The rows of a handshake: what was asked, what was seen, how to change it. Printed, and stored in the run. */
export type Answer = {
  /** `reachable`, `model`, `context`, `vocabulary`, `logprobs`, `seeds`, … */
  readonly question: string;
  readonly seen: string;
  /** false = it stops the run. */
  readonly holds: boolean;
  /** What to do, when it does not hold or could be better; else null. */
  readonly fix: string | null;
};

/** Why a handshake ended early; its table ends with the row that did not hold. */
export type Refusal = {
  readonly ok: false;
  readonly url: string;
  readonly answers: readonly Answer[];
  /** One line with the fix. */
  readonly line: string;
};

export function refuse(url: string, answers: readonly Answer[], last: Answer): Refusal {
  const fix = last.fix === null ? "" : `; ${last.fix}`;
  return {
    ok: false,
    url,
    answers: [...answers, last],
    line: `${last.question}: ${last.seen}${fix}`,
  };
}

export function answer(question: string, seen: string, fix: string | null = null): Answer {
  return { question, seen, holds: true, fix };
}

export function problem(question: string, seen: string, fix: string | null): Answer {
  return { question, seen, holds: false, fix };
}
