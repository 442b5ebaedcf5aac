/** In: what was written, what exists. Out: the existing name that was most likely meant, or null. */
export function nearestName(written: string, names: Iterable<string>): string | null {
  // Past a third of its letters, a suggestion would be a guess.
  let limit = Math.max(2, Math.floor(written.length / 3));
  let best: string | null = null;
  for (const name of names) {
    const distance = countEdits(written.toLowerCase(), name.toLowerCase(), limit);
    if (distance > limit || (best !== null && distance === limit)) continue;
    best = name;
    limit = distance;
  }
  return best;
}

/** Insertions, deletions, substitutions and swaps of neighbours; anything past `limit` is `limit + 1`. */
function countEdits(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let older: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let edits = Math.min(at(previous, j) + 1, at(row, j - 1) + 1, at(previous, j - 1) + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        edits = Math.min(edits, at(older, j - 2) + 1);
      }
      row.push(edits);
    }
    older = previous;
    previous = row;
  }
  return Math.min(at(previous, b.length), limit + 1);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
