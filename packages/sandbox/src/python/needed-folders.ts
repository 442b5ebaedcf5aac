import { existsSync, lstatSync, readlinkSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import type { Python } from "./find-python.ts";

/** Programs and shared libraries of the system: what an interpreter and its packages link to. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/alternatives"];

/**
 * The folders that a jailed interpreter must see, none inside another: by the names it knows them by,
 * and where those lead through links. A link directly below `/` (`/bin`) stays one; others are followed.
 */
export function foldersPythonNeeds(python: Python): readonly string[] {
  const named = [...python.prefixes, ...python.library, ...python.packages].filter((path) =>
    existsSync(path),
  );
  const real = [
    dirname(realpathSync(python.executable)),
    ...named.map((path) => realpathSync(path)),
  ];
  const own = [...named, ...real];
  const folders = [...SYSTEM, ...own].filter((path) => existsSync(path) && path !== "/");
  return [...new Set(folders)].filter(
    (path) => !folders.some((other) => path !== other && path.startsWith(`${other}/`)),
  );
}

/** Where a link directly below `/` leads; null for anything else. */
export function topLink(path: string): string | null {
  return dirname(path) === "/" && lstatSync(path).isSymbolicLink() ? readlinkSync(path) : null;
}
