/**
 * In: a shuffled data set and a step. Out: the problems of that step's batch.
 * Refuses to know: how the order came about; it is never shuffled again.
 */

/**
 * [questionsPerBatch] items from offset `step * questionsPerBatch`, going on at the start past the end.
 * A batch larger than the data set holds an item more than once. Depends on nothing but its arguments.
 */
export function batchAt<T>(items: readonly T[], step: number, questionsPerBatch: number): T[] {
  if (items.length === 0) throw new RangeError("Expected at least one problem, got none");
  const start = (step * questionsPerBatch) % items.length;
  return Array.from({ length: questionsPerBatch }, (_, at) => {
    return items[(start + at) % items.length] as T;
  });
}
