import type { IsolationReport } from "../../isolation.ts";
import type { Enforced } from "./template.ts";
import type { Groups } from "./groups.ts";

/**
 * How a pool is contained.
 * - `root`: namespaces made by root, every call with a user id of its own, control groups.
 * - `user`: namespaces made by a plain user, every call in a user namespace of its own.
 * - `landlock`: no namespaces – Landlock, the system call filter and limits alone.
 */
export type Level = "root" | "user" | "landlock";

/** What could be tried here, best first. */
export function possibleLevels(asRoot: boolean): readonly Level[] {
  return asRoot ? ["root", "landlock"] : ["user", "landlock"];
}

export function reportOf(level: Level, enforced: Enforced, groups: Groups): IsolationReport {
  const jailed = level !== "landlock";
  const ruled = enforced.landlock > 0;
  const ownIds = jailed || enforced.root;
  const noLandlock = "the kernel has no Landlock and there is no mount namespace";
  const noFilter = "no system call filter for this processor";
  return {
    fresh_interpreter: true,
    clean_environment: true,
    private_files: jailed || ruled ? true : noLandlock,
    no_host_read: jailed || ruled ? true : noLandlock,
    no_network: jailed || enforced.seccomp ? true : noFilter,
    private_processes:
      ownIds || enforced.landlock >= 6
        ? true
        : "this kernel's Landlock does not keep signals inside; calls share the engine's user",
    no_orphans: true,
    memory_per_process: true,
    memory_total: groups.memory,
    process_count: ownIds ? true : "all calls of the user are counted together",
    disk_total: jailed ? true : "only single files are limited",
    syscall_filter: enforced.seccomp ? true : noFilter,
  };
}
