import { constants } from "node:os";
import type { ExecLimits, ExecResult, ExecStatus } from "@interlace/core";

/** How a process came to its end, as the one who waited for it saw it. */
export type Ending = {
  readonly exitCode: number | null;
  /** Name of the signal that ended it, null when it exited. */
  readonly signal: string | null;
  /** Why we, or the kernel on a limit of ours, ended it; null = it ended by itself. */
  readonly killed: "timeout" | "memory_limit" | "output_limit" | null;
  /** null = not measured: then the program's own word for it is taken. */
  readonly cpuSeconds: number | null;
};

/** Exit code of a program that was told that its time is up (`interlace_child/program.py`). */
const TIME_IS_UP = 152;
/** The kernel's clock for limits and the one it reports at the end differ by some ticks. */
const COUNTED = 0.5;
/** Of a signal with two names the first is the usual one: SIGABRT, not SIGIOT. */
const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(constants.signals)
    .toReversed()
    .map(([name, number]) => [number, name]),
);

export function signalName(number: number): string {
  return NAMES.get(number) ?? `SIG${number}`;
}

/** The part of a result that follows from how the process ended. */
export function classify(
  ending: Ending,
  limits: ExecLimits,
): Pick<ExecResult, "status" | "exitCode" | "signal" | "limit"> {
  const status = statusOf(ending, limits);
  return {
    status,
    exitCode: ending.exitCode,
    signal: ending.signal,
    limit: limitOf(status, limits),
  };
}

function statusOf(ending: Ending, limits: ExecLimits): ExecStatus {
  if (ending.killed !== null) return ending.killed;
  const { exitCode, signal, cpuSeconds } = ending;
  const told = exitCode === TIME_IS_UP || signal === "SIGXCPU" || signal === "SIGKILL";
  const spent =
    cpuSeconds === null ? signal !== "SIGKILL" : cpuSeconds >= limits.cpuSeconds * COUNTED;
  if (told && spent) return "cpu_limit";
  if (signal !== null) return "killed";
  return exitCode === 0 ? "ok" : "error";
}

function limitOf(status: ExecStatus, limits: ExecLimits): number | null {
  switch (status) {
    case "timeout":
      return limits.wallSeconds;
    case "cpu_limit":
      return limits.cpuSeconds;
    case "memory_limit":
      return limits.memoryBytes;
    case "output_limit":
      return limits.maxOutputBytes;
    case "ok":
    case "error":
    case "killed":
    case "cancelled":
      return null;
  }
}
