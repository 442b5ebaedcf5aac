import type { Isolation } from "@interlace/core";

/** Everything that an isolation report speaks about, in the order in which it is shown. */
export const ISOLATION_LINES = [
  "fresh_interpreter",
  "clean_environment",
  "private_files",
  "no_host_read",
  "no_network",
  "private_processes",
  "no_orphans",
  "memory_per_process",
  "memory_total",
  "process_count",
  "disk_total",
  "syscall_filter",
] as const;
export type IsolationLine = (typeof ISOLATION_LINES)[number];

/** `true`, or why it does not hold. */
export type IsolationReport = Readonly<Record<IsolationLine, true | string>>;

export type Require = "none" | "standard" | "strict";

const REQUIRED: Readonly<Record<Require, readonly IsolationLine[]>> = {
  none: [],
  standard: ["no_host_read", "no_network", "no_orphans", "memory_per_process"],
  strict: ISOLATION_LINES,
};

export function isolationOf(backend: string, level: string, report: IsolationReport): Isolation {
  const lines = ISOLATION_LINES.map((name) => {
    const why = report[name];
    return why === true ? { name, holds: true } : { name, holds: false, why };
  });
  return { backend, level, lines };
}

/** The same report, telling at its first open line why nothing better was to be had. */
export function explain(report: IsolationReport, reason: string): IsolationReport {
  const open = ISOLATION_LINES.find((name) => report[name] !== true);
  if (open === undefined) return report;
  return { ...report, [open]: `${report[open]} (better was tried: ${reason})` };
}

/** What `require` asks for and the sandbox does not give; empty = good enough. */
export function lacking(isolation: Isolation, require: Require): Isolation["lines"] {
  const required: readonly string[] = REQUIRED[require];
  return required.flatMap((name) => {
    const line = isolation.lines.find((each) => each.name === name);
    if (line === undefined) return [{ name, holds: false, why: "the backend does not tell" }];
    return line.holds ? [] : [line];
  });
}

/** One line for a person: what is not contained. */
export function describeIsolation(isolation: Isolation): string {
  const open = isolation.lines.filter((line) => !line.holds).map((line) => line.name);
  const name = `${isolation.backend} (${isolation.level})`;
  return open.length === 0
    ? `${name}: all contained`
    : `${name}: not contained: ${open.join(", ")}`;
}
