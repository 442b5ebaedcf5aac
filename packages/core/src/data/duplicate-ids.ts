/** In: problems. Out: which ids occur more than once. Refuses to know: whether that is a mistake. */
import type { MathExample } from "./math-example.ts";

/** `ids` = how many ids occur more than once; `extra` = how many problems beyond each id's first. */
export type DuplicateIds = {
  readonly ids: number;
  readonly extra: number;
  /** The first few, in order of appearance. */
  readonly examples: readonly { readonly id: string; readonly count: number }[];
};

const MAX_EXAMPLES = 5;

export function countDuplicates(problems: Iterable<MathExample>): DuplicateIds {
  const counts = new Map<string, number>();
  for (const { id } of problems) counts.set(id, (counts.get(id) ?? 0) + 1);
  const repeated = [...counts].filter(([, count]) => count > 1);
  return {
    ids: repeated.length,
    extra: repeated.reduce((sum, [, count]) => sum + count - 1, 0),
    examples: repeated.slice(0, MAX_EXAMPLES).map(([id, count]) => ({ id, count })),
  };
}
