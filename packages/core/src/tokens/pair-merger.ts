/**
 * Byte-pair merges, on ids: of all neighbours that may merge, the pair of the lowest rank does, the
 * leftmost of equals first. O(n log n) in the word, so a line of a million blanks is no trap.
 */
import type { Merges } from "./vocabulary.ts";

/** Room for positions beside ranks in one sortable number: rank · 2^26 + position. */
const POSITIONS = 1 << 26;

/** Appends the ids that `symbols` merge to. */
export type Merger = (ids: number[], symbols: readonly number[]) => void;

export function createMerger({ rankOf, merged }: Merges): Merger {
  return (ids, symbols) => {
    const count = symbols.length;
    const at = Int32Array.from(symbols);
    const next = new Int32Array(count);
    const previous = new Int32Array(count);
    const heap: number[] = [];
    const offer = (position: number): void => {
      const after = next[position] as number;
      if (after >= count) return;
      const rank = rankOf(at[position] as number, at[after] as number);
      if (rank >= 0) push(heap, rank * POSITIONS + position);
    };
    for (let i = 0; i < count; i++) {
      next[i] = i + 1;
      previous[i] = i - 1;
    }
    for (let i = 0; i < count; i++) offer(i);
    while (heap.length > 0) {
      const lowest = pop(heap);
      const rank = Math.floor(lowest / POSITIONS);
      const position = lowest - rank * POSITIONS;
      const after = next[position] as number;
      // A pair that has changed since it was offered has been offered anew.
      if (at[position] === -1 || after >= count) continue;
      if (rankOf(at[position] as number, at[after] as number) !== rank) continue;
      at[position] = merged[rank] as number;
      at[after] = -1;
      const beyond = next[after] as number;
      next[position] = beyond;
      if (beyond < count) previous[beyond] = position;
      const before = previous[position] as number;
      if (before >= 0) offer(before);
      offer(position);
    }
    for (let i = 0; i < count; i = next[i] as number) ids.push(at[i] as number);
  };
}

function push(heap: number[], value: number): void {
  let at = heap.length;
  heap.push(value);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if ((heap[parent] as number) <= value) break;
    heap[at] = heap[parent] as number;
    at = parent;
  }
  heap[at] = value;
}

/** Takes the lowest; the heap is not empty. */
function pop(heap: number[]): number {
  const lowest = heap[0] as number;
  const value = heap.pop() as number;
  if (heap.length === 0) return lowest;
  let at = 0;
  let child = 1;
  while (child < heap.length) {
    if (child + 1 < heap.length && (heap[child + 1] as number) < (heap[child] as number)) child++;
    if ((heap[child] as number) >= value) break;
    heap[at] = heap[child] as number;
    at = child;
    child = 2 * at + 1;
  }
  heap[at] = value;
  return lowest;
}
