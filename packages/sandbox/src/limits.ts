import type { ExecLimits } from "@interlace/core";

const MiB = 1024 ** 2;

/** sandbox.md §2. `cpuSeconds` follows the wall clock unless it is given: wall + 5 s, a backstop. */
export const DEFAULT_LIMITS: ExecLimits = {
  wallSeconds: 30,
  cpuSeconds: 35,
  memoryBytes: 2048 * MiB,
  keepBytes: 64 * 1024,
  maxOutputBytes: 16 * MiB,
};

/** Limits that no request changes. */
export const FIXED_LIMITS = {
  /** Of every file, and in sum of what a call writes where its file system is private. */
  fileBytes: 64 * MiB,
  openFiles: 256,
  processes: 64,
  stackBytes: 8 * MiB,
} as const;

/** Address space of one process: address space is reserved long before memory is used. */
export function addressSpace(limits: ExecLimits): number {
  return limits.memoryBytes * 2;
}

/**
 * Later layers win. Throws a RangeError on a limit that the kernel would read as "none": a negative
 * resource limit means unlimited, and `2 << 30` is negative in TypeScript.
 */
export function resolveLimits(...layers: readonly (Partial<ExecLimits> | undefined)[]): ExecLimits {
  const given: Partial<ExecLimits> = Object.assign({}, ...layers);
  const wallSeconds = given.wallSeconds ?? DEFAULT_LIMITS.wallSeconds;
  const limits: ExecLimits = {
    ...DEFAULT_LIMITS,
    ...given,
    wallSeconds,
    // The kernel counts CPU limits in whole seconds.
    cpuSeconds: Math.ceil(given.cpuSeconds ?? wallSeconds + 5),
  };
  for (const name of ["memoryBytes", "keepBytes", "maxOutputBytes"] as const) {
    if (!Number.isSafeInteger(limits[name]) || limits[name] < 1) {
      throw new RangeError(
        `Expected ${name} to be a positive whole number, seen ${limits[name]}; give bytes`,
      );
    }
  }
  for (const name of ["wallSeconds", "cpuSeconds"] as const) {
    if (!(limits[name] > 0 && limits[name] <= 86_400)) {
      throw new RangeError(
        `Expected ${name} to be above 0 and at most 86400, seen ${limits[name]}; give seconds`,
      );
    }
  }
  return limits;
}
