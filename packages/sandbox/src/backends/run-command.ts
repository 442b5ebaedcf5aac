import type { Subprocess } from "bun";
import type { ExecLimits, ExecResult } from "@interlace/core";
import { classify, signalName, type Ending } from "../ending.ts";
import { readOutput } from "../read-output.ts";

/** From "your time is up" to SIGKILL: for what is printed but not yet written. */
const GRACE_MS = 200;
/** After the last process is gone its pipes end; one that hid from the sweep must not hold us. */
const DRAIN_MS = 500;

export type Command = {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Record<string, string>;
  /** File that becomes stdin. */
  readonly stdin: string;
  /** Tells the program that its time is up, to write out what it has printed. */
  readonly tell: (child: Subprocess) => void;
  /** Ends what the command left running, once it has ended itself. */
  readonly sweep: () => Promise<void>;
  /** How the program ended, when the command that wrapped it ended so. */
  readonly unwrap?: (ending: Ending) => Ending;
};

/** Runs one command as one call: its own process group, wall clock, output capped while it is read. */
export async function runCommand(
  command: Command,
  limits: ExecLimits,
  signal: AbortSignal,
): Promise<ExecResult> {
  signal.throwIfAborted();
  const started = performance.now();
  const child = Bun.spawn([...command.command], {
    cwd: command.cwd,
    env: command.env,
    stdin: Bun.file(command.stdin),
    stdout: "pipe",
    stderr: "pipe",
    detached: true,
  });
  const reasons: NonNullable<Ending["killed"]>[] = []; // the first one counts
  const kill = (why: NonNullable<Ending["killed"]>) => {
    reasons.push(why);
    killGroup(child.pid);
  };
  const abort = () => killGroup(child.pid);
  signal.addEventListener("abort", abort, { once: true });
  const wallMs = limits.wallSeconds * 1000;
  const timers = [
    setTimeout(() => {
      reasons.push("timeout");
      command.tell(child);
    }, wallMs),
    setTimeout(() => kill("timeout"), wallMs + GRACE_MS),
  ];
  const flooded = () => kill("output_limit");
  const streams = [child.stdout, child.stderr].map((stream) => readOutput(stream, limits, flooded));
  await child.exited;
  const wallSeconds = (performance.now() - started) / 1000;
  for (const timer of timers) clearTimeout(timer);
  signal.removeEventListener("abort", abort);
  killGroup(child.pid);
  await command.sweep();
  const drained = setTimeout(() => streams.forEach((stream) => stream.stop()), DRAIN_MS);
  await Promise.all(streams.map((stream) => stream.ended));
  clearTimeout(drained);
  signal.throwIfAborted();
  // Its peak memory is not told: the counter starts at that of the engine which it was forked from.
  const used = child.resourceUsage();
  const cpuSeconds = used === undefined ? null : Number(used.cpuTime.total) / 1e6;
  const ended = endingOf(child, reasons[0] ?? null, cpuSeconds);
  const ending = command.unwrap?.(ended) ?? ended;
  return {
    ok: true,
    ...classify(ending, limits),
    stdout: streams[0]!.captured(),
    stderr: streams[1]!.captured(),
    usage: {
      queuedSeconds: 0,
      wallSeconds,
      cpuSeconds: ending.cpuSeconds,
      peakMemoryBytes: null,
    },
  };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group has no member left.
  }
}

function endingOf(child: Subprocess, killed: Ending["killed"], cpuSeconds: number | null): Ending {
  const { exitCode, signalCode } = child;
  const signal = typeof signalCode === "number" ? signalName(signalCode) : signalCode;
  return { exitCode: signal === null ? exitCode : null, signal, killed, cpuSeconds };
}
