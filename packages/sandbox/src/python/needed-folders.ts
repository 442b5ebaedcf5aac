import { existsSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import type { Python } from "./find-python.ts";

/** Programs and shared libraries of the system: what an interpreter and its packages link to. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/alternatives"];

/** The folders that a jailed interpreter must see, each named once and none inside another. */
export function foldersPythonNeeds(python: Python): readonly string[] {
  const own = [
    ...python.prefixes,
    ...python.library,
    ...python.packages,
    dirname(realpathSync(python.executable)),
  ];
  const folders = [...SYSTEM, ...own].filter((path) => existsSync(path) && path !== "/");
  return [...new Set(folders)].filter(
    (path) => !folders.some((other) => path !== other && path.startsWith(`${other}/`)),
  );
}
