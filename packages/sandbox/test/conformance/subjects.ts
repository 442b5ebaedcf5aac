/** The sandboxes that the suites run over, and why one cannot run here: then its tests are a visible skip. */

import { existsSync } from "node:fs";
import { test } from "bun:test";
import { createSandbox, type LocalOptions, type SandboxOptions } from "../../src/index.ts";
import { plainUserPython, testPython } from "./differential.ts";
import { prepareSubject, type Subject } from "./harness.ts";

export type Kind =
  | "process"
  | "bubblewrap"
  | "zygote as root"
  | "zygote as user"
  | "zygote with landlock"
  | "zygote with landlock as root";

const isRoot = process.getuid?.() === 0;
/** What a plain user's level is tried as where the tests run as root: whose processes are counted, so one for each run. */
const asPlainUser = isRoot ? { runAs: 10_000 + (process.pid % 50_000) } : {};

/** Sentences, or null. */
function whyNot(kind: Kind): string | null {
  if (kind !== "process" && process.platform !== "linux") return "needs Linux";
  if (kind.endsWith("as root") && !isRoot) return "needs root";
  if (kind === "bubblewrap" && Bun.which("bwrap") === null) return "needs the program bwrap";
  return null;
}

export function optionsOf(kind: Kind): SandboxOptions {
  switch (kind) {
    case "process":
    case "bubblewrap":
      return { backend: kind };
    case "zygote as root":
      return { backend: "zygote", level: "root" };
    case "zygote as user":
      return { backend: "zygote", level: "user", ...asPlainUser };
    case "zygote with landlock":
      return { backend: "zygote", level: "landlock", ...asPlainUser };
    case "zygote with landlock as root":
      return { backend: "zygote", level: "landlock" };
  }
}

/** Root's calls run as others, who cannot read an interpreter in root's home. */
function needsPlainPython(kind: Kind): boolean {
  return (
    isRoot && kind !== "process" && kind !== "zygote as root" && existsSync("/usr/bin/python3")
  );
}

/** Hands the subject to the suite, or registers one skipped test that says why not. */
export async function withSubject(
  kind: Kind,
  suite: (subject: Subject) => void | Promise<void>,
): Promise<void> {
  const reason = whyNot(kind);
  if (reason !== null) {
    test.skip(`${kind}: ${reason}`, () => {});
    return;
  }
  const { path: python, libraries } = await (needsPlainPython(kind)
    ? plainUserPython()
    : testPython());
  const make = (options: Partial<LocalOptions> = {}) =>
    createSandbox({ ...optionsOf(kind), python, ...options });
  const subject = await prepareSubject({
    name: kind,
    make,
    python,
    libraries,
    isFirstProcess: kind === "zygote as root" || kind === "zygote as user",
    hasNoSharedMemory: kind.startsWith("zygote with landlock"),
  });
  await suite(subject);
}
