/**
 * The bytes between the engine and the pool; the other side is `python/interlace_child/{template,worker}.py`.
 * All numbers are little-endian.
 */

export const OUT = 1;
export const ERR = 2;
/** A worker says it twice on its error stream: when it is ready, and when its program begins. */
export const FINE = 1;

const START = 1;
const KILL = 2;
const AUTO_PRINT = 1;
export const REPORT_SIZE = 32;

/** What the template says of a worker that ended. */
export type Report = {
  readonly worker: number;
  readonly exitCode: number | null;
  /** Signal number, null when it exited. */
  readonly signal: number | null;
  readonly reason: "none" | "timeout" | "out_of_memory" | "asked";
  readonly cpuSeconds: number;
  readonly peakMemoryBytes: number;
};

const REASONS = ["none", "timeout", "out_of_memory", "asked"] as const;

/** The first bytes of a connection: which worker, and which of its two descriptors. */
export function encodeHello(kind: number, worker: number): Uint8Array {
  const view = new DataView(new ArrayBuffer(5));
  view.setUint8(0, kind);
  view.setUint32(1, worker, true);
  return bytesOf(view);
}

/** The deadline counts from its arrival. */
export function encodeStart(worker: number, wallSeconds: number, memoryBytes: number): Uint8Array {
  return encodeCommand(START, worker, Math.ceil(wallSeconds * 1000), memoryBytes);
}

export function encodeKill(worker: number): Uint8Array {
  return encodeCommand(KILL, worker, 0, 0);
}

function encodeCommand(command: number, worker: number, value: number, memory: number): Uint8Array {
  const view = new DataView(new ArrayBuffer(17));
  view.setUint8(0, command);
  view.setUint32(1, worker, true);
  view.setUint32(5, value, true);
  view.setBigUint64(9, BigInt(memory), true);
  return bytesOf(view);
}

export function encodeRequest(request: {
  readonly code: string;
  readonly stdin: string;
  readonly cpuSeconds: number;
  readonly addressSpace: number;
  readonly autoPrint: boolean;
}): Uint8Array {
  const code = new TextEncoder().encode(request.code);
  const stdin = new TextEncoder().encode(request.stdin);
  const view = new DataView(new ArrayBuffer(24));
  view.setUint32(0, code.length, true);
  view.setUint32(4, stdin.length, true);
  view.setUint32(8, request.cpuSeconds, true);
  view.setUint32(12, request.autoPrint ? AUTO_PRINT : 0, true);
  view.setBigUint64(16, BigInt(request.addressSpace), true);
  return Buffer.concat([bytesOf(view), code, stdin]);
}

export function decodeReport(bytes: Uint8Array): Report {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const exitCode = view.getInt32(4, true);
  const signal = view.getInt32(8, true);
  return {
    worker: view.getUint32(0, true),
    exitCode: exitCode < 0 ? null : exitCode,
    signal: signal === 0 ? null : signal,
    reason: REASONS[view.getInt32(12, true)] ?? "none",
    cpuSeconds: view.getFloat64(16, true),
    peakMemoryBytes: Number(view.getBigUint64(24, true)),
  };
}

function bytesOf(view: DataView): Uint8Array {
  return new Uint8Array(view.buffer);
}
