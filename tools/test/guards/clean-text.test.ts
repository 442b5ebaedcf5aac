/** Tracked text names no machine, no registry and nothing left undone. */
import { expect, test } from "bun:test";
import { ROOT } from "../../workspace.ts";
import { linesMatching, read, trackedFiles } from "./sources.ts";

/** Data as it was recorded, and files that are not text. */
const texts = trackedFiles.filter(
  (path) =>
    !path.startsWith("vectors/") &&
    !path.includes("/assets/") &&
    !/\.(png|gif|jpg|wasm|arrow|parquet|safetensors|gz|zst)$/.test(path),
);

function findAll(pattern: RegExp, paths: readonly string[] = texts): readonly string[] {
  return paths.flatMap((path) => linesMatching(path, read(path), pattern));
}

// Brackets keep these patterns from finding themselves.

test("no path of the machine that it was written on", () => {
  const here = `${ROOT}/`.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);
  const paths = [here, "/[r]oot/", "/[w]ork/", "/[h]ome/\\w", "/[U]sers/\\w"].join("|");
  // Attacks on the sandbox aim at places that every machine has.
  const own = texts.filter((path) => !path.startsWith("packages/sandbox/test/attacks/"));
  expect(findAll(new RegExp(`(?<![\\w.~-])(${paths})`), own)).toEqual([]);
});

test("paths of the checkout work with spaces in them", () => {
  // `new URL(…).pathname` of a file says %20 where the file has a space: join(import.meta.dir, …) does not.
  expect(findAll(/import\.meta\.url\)\.pathname/)).toEqual([]);
});

test("no host of a package registry, in the lockfile neither", () => {
  expect(findAll(/npm[j]s\.|yarn[p]kg\.|[p]ypi\.org|python[h]osted\.|[d]eb\.debian\./)).toEqual([]);
  expect(findAll(/https?:/, ["bun.lock"])).toEqual([]);
});

test("nothing says that it is left for later, or how the work was organised", () => {
  expect(findAll(/\b([T]ODO|[F]IXME|[X]XX)\b|\b[i]ssue #?\d/)).toEqual([]);
});

test("text ends with one newline and has no carriage returns", () => {
  const wrong = texts.filter((path) => {
    const text = read(path);
    return text.includes("\r\n") || !text.endsWith("\n") || text.endsWith("\n\n");
  });
  expect(wrong).toEqual([]);
});
