import type { Captured } from "@interlace/core";

/** Collects one output stream, both ends kept, the middle counted; never more than 2 × keep + one chunk. */
export type Capture = {
  /** Bytes seen so far. */
  readonly total: () => number;
  readonly push: (chunk: Uint8Array) => void;
  readonly finish: () => Captured;
};

export function createCapture(keepBytes: number): Capture {
  const head: Uint8Array[] = [];
  let headLength = 0;
  // The tail is kept in chunks; whole chunks are dropped from its front once enough lies behind them.
  let tail: Uint8Array[] = [];
  let tailLength = 0;
  let total = 0;

  function push(chunk: Uint8Array): void {
    total += chunk.length;
    const forHead = chunk.subarray(0, Math.max(0, keepBytes - headLength));
    if (forHead.length > 0) head.push(forHead);
    headLength += forHead.length;
    const rest = chunk.subarray(forHead.length).subarray(-keepBytes);
    if (rest.length === 0) return;
    tail.push(rest);
    tailLength += rest.length;
    let drop = 0;
    while (tailLength - tail[drop]!.length >= keepBytes) tailLength -= tail[drop++]!.length;
    if (drop > 0) tail = tail.slice(drop);
    if (tail.length > 256) tail = [Buffer.concat(tail)];
  }

  function finish(): Captured {
    const first = Buffer.concat(head);
    const last = Buffer.concat(tail).subarray(-keepBytes);
    if (first.length + last.length === total) {
      return { ...kept(Buffer.concat([first, last]), Buffer.alloc(0), total), omittedBytes: 0 };
    }
    return kept(first.subarray(0, endOfText(first)), last.subarray(startOfText(last)), total);
  }

  return { total: () => total, push, finish };
}

function kept(head: Uint8Array, tail: Uint8Array, totalBytes: number): Captured {
  return {
    head: decode(head),
    tail: decode(tail),
    omittedBytes: totalBytes - head.length - tail.length,
    totalBytes,
  };
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

/** Where the last whole character of a cut text ends: a cut must not invent a replacement character. */
function endOfText(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

function startOfText(bytes: Uint8Array): number {
  let start = 0;
  while (start < Math.min(3, bytes.length) && (bytes[start]! & 0xc0) === 0x80) start += 1;
  return start;
}
