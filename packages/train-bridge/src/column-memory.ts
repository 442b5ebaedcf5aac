/**
 * Where the bytes of a batch's long columns lie. Fresh memory lives as long as its batch; reused memory is that of one
 * batch for the whole table: what a collector has not seen yet of batches written long ago was most of what a step
 * cost at its end.
 */
export interface ColumnMemory {
  /** Not zeroed, at a multiple of 8. */
  take(bytes: number): Buffer;
}

export const FRESH: ColumnMemory = { take: (bytes) => Buffer.allocUnsafeSlow(bytes) };

/** What was taken before `reset` is overwritten after it. Grows to the largest batch. */
export function reusedMemory(): ColumnMemory & { reset(): void } {
  let block = Buffer.allocUnsafeSlow(0);
  let wanted = 0;
  return {
    take(bytes) {
      const start = wanted;
      wanted += Math.ceil(bytes / 8) * 8;
      return wanted > block.length
        ? Buffer.allocUnsafeSlow(bytes)
        : block.subarray(start, start + bytes);
    },
    reset() {
      if (wanted > block.length) block = Buffer.allocUnsafeSlow(wanted);
      wanted = 0;
    },
  };
}
