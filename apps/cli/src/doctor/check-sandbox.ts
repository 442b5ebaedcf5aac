/** What the sandbox really contains on this machine, line by line, and what would contain more. */
import { lacking, type IsolationLine } from "@interlace/sandbox";
import type { Config } from "../config/schema.ts";
import { messageOf } from "../person-error.ts";
import { openSandbox } from "../rollout/open-sandbox.ts";
import { reporterFor, type Finding } from "./finding.ts";

const NAMESPACES =
  "run as root, or allow user namespaces (sysctl kernel.unprivileged_userns_clone=1)";
const LANDLOCK = `a kernel with Landlock (5.13 or later), or: ${NAMESPACES}`;

const FIXES: Readonly<Record<IsolationLine, string>> = {
  fresh_interpreter: "choose the backend zygote, bubblewrap or process",
  clean_environment: "choose the backend zygote, bubblewrap or process",
  private_files: LANDLOCK,
  no_host_read: LANDLOCK,
  no_network: "a processor and kernel with seccomp filters (x86-64 or arm64 Linux)",
  private_processes: NAMESPACES,
  no_orphans: "choose the backend zygote or bubblewrap (apt-get install bubblewrap)",
  memory_per_process: "choose the backend zygote",
  memory_total: "run as root where /sys/fs/cgroup can be written, or in a container with cgroups",
  process_count: NAMESPACES,
  disk_total: NAMESPACES,
  syscall_filter: "a processor and kernel with seccomp filters (x86-64 or arm64 Linux)",
};

export async function checkSandbox({ sandbox }: Config, findings: Finding[]): Promise<void> {
  const report = reporterFor("sandbox", findings);
  const { require } = sandbox;
  try {
    // What is enforced is looked at line by line below: nothing is refused here.
    await using opened = await openSandbox({ sandbox: { ...sandbox, require: "none" } });
    const isolation = opened.isolation();
    const run = await opened.run(
      { id: "doctor", code: "print(6 * 7)" },
      new AbortController().signal,
    );
    const printed = run.ok ? run.stdout.head.trim() : run.detail;
    if (printed === "42") {
      report.ok("runs code", `${isolation.backend} (${isolation.level}), 6 * 7 printed 42`);
    } else {
      report.broken(
        "runs code",
        `6 * 7 gave ${JSON.stringify(printed)}`,
        "name another interpreter: sandbox.python",
      );
    }
    for (const { name, holds, why } of isolation.lines) {
      if (holds) report.ok(name, "contained");
      else report.note(name, why ?? "not enforced", FIXES[name as IsolationLine] ?? null);
    }
    const missing = lacking(isolation, require).map(({ name }) => name);
    if (missing.length === 0) report.ok("level", `sandbox.require = ${require} is met`);
    else {
      report.broken(
        "level",
        `sandbox.require = ${require} needs ${missing.join(", ")}`,
        "mend these lines, or accept less: --require none",
      );
    }
  } catch (error) {
    report.broken("runs code", messageOf(error), "see the machine's Python above");
  }
}
