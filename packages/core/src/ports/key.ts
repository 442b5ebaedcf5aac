/** Where in a run an answer belongs. Answers are matched by key, so their order never matters. */
export type Key = {
  /** Training step, from 0. */
  readonly step: number;
  /** `question_index`: place of the problem in this step's batch. */
  readonly question: number;
  /** `group_index`: branch within the group; null = the first request, which all members share. */
  readonly group: number | null;
  /** Turns recorded before this command was issued: 0 for the first request. */
  readonly turn: number;
};

/** `0/3/-/0`, `0/3/7/2`: sortable by eye, unique within a run for one type of event. */
export function formatKey(key: Key): string {
  return `${key.step}/${key.question}/${key.group ?? "-"}/${key.turn}`;
}
