import type { ExecLimits, ExecStatus } from "@interlace/core";
import type { IsolationLine } from "../../src/index.ts";

/** One attempt to get out, to stay, or to do harm; and how it must end. */
export type Attack = {
  readonly name: string;
  readonly code: string;
  readonly limits?: Partial<ExecLimits>;
  /** Lines of the isolation report that promise to hold it; elsewhere the attack is skipped. */
  readonly needs?: readonly IsolationLine[];
  /** Allowed endings. */
  readonly ends: readonly ExecStatus[];
  /** What it must have printed; none = anything. */
  readonly prints?: RegExp;
  readonly complains?: RegExp;
};

/** What an attacker would like to know of the host: real things, so that denial means something. */
export type Bait = {
  /** A world-readable file outside the sandbox, and its folder. */
  readonly secret: string;
  readonly folder: string;
  /** A listener on loopback, and one on a unix socket in the folder. */
  readonly port: number;
  readonly unixSocket: string;
  /** Name of one without a path, less its leading NUL. */
  readonly abstractSocket: string;
  readonly enginePid: number;
  readonly project: string;
};

/** Prints HELD when the attempt is refused, ESCAPED and what came of it when it is not. */
export function attempt(expression: string, setup = ""): string {
  return `import ctypes, errno, fcntl, mmap, os, signal, socket, stat, struct, sys, time
${setup}
try:
    got = ${expression}
except (OSError, ValueError, RuntimeError, ImportError, AttributeError) as error:
    print("HELD", type(error).__name__)
else:
    print("ESCAPED", repr(got)[:200])
`;
}

/** The same for a system call by number (x86-64). */
export function attemptSyscall(number: number, ...args: readonly string[]): string {
  return `import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
got = libc.syscall(ctypes.c_long(${number}), ${args.map((arg) => `ctypes.c_long(${arg})`).join(", ")})
number = ctypes.get_errno()
if got == -1 and number in (errno.EPERM, errno.EACCES, errno.ENOSYS):
    print("HELD", errno.errorcode[number])
else:
    print("ESCAPED", got, errno.errorcode.get(number))
`;
}

export const HELD = /^HELD /;
/** Spinning or sleeping for ever: one second is enough to show it. */
export const SHORT: Partial<ExecLimits> = { wallSeconds: 1 };
export const STOPPED: readonly ExecStatus[] = ["timeout", "cpu_limit"];
