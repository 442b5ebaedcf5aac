/** Imports point up the flow or into the core; only the command wires. Changing this is a decision. */
import { expect, test } from "bun:test";
import { dirname, join, normalize } from "node:path";
import { importsOf, linesMatching, manifest, packageOf, read, readCode } from "./sources.ts";
import { sourceFiles, workspaceFolders } from "./sources.ts";

/** Rooms of the core in the order in which data flows; a file imports from its own or from above. */
const ROOMS = [
  "data",
  "tokens",
  "ports",
  "protocol",
  "rollout",
  "reward",
  "advantage",
  "datum",
  "metrics",
  "verify",
  "run",
];

const typescript = sourceFiles.filter((path) => path.endsWith(".ts") && !path.endsWith(".as.ts"));
const files = typescript.map((path) => ({
  path,
  text: read(path),
  imports: importsOf(read(path)),
}));
const inCore = files.filter(({ path }) => path.startsWith("packages/core/src/"));
const isRelative = (specifier: string): boolean => specifier.startsWith(".");

function folderOf(path: string): string {
  return path.split("/").slice(0, 2).join("/");
}

test("the guards see the code", () => {
  expect(inCore.length).toBeGreaterThan(20);
  expect(inCore.flatMap(({ imports }) => imports).length).toBeGreaterThan(50);
});

test("rooms of the core import only from themselves and from rooms above", () => {
  const wrong = inCore.flatMap(({ path, imports }) => {
    const own = roomOf(path);
    return imports
      .filter(isRelative)
      .map((specifier) => roomOf(join(dirname(path), specifier)))
      .filter((room) => room > own)
      .map((room) => `${path} imports from ${ROOMS[room] ?? "the index"}`);
  });
  expect(wrong).toEqual([]);
});

/** Place of a room in the flow; the index comes after all. */
function roomOf(path: string): number {
  const room = path.split("/")[3] ?? "";
  if (room === "index.ts") return ROOMS.length;
  if (!ROOMS.includes(room)) throw new Error(`${path} lies in no room of the core`);
  return ROOMS.indexOf(room);
}

test("the core has no I/O, no clock, no randomness and no runtime of its own", () => {
  const forbidden =
    /\bBun\.|\bprocess\.|\bDeno\.|\bDate\.now\b|\bnew Date\(\)|\bperformance\.|\bMath\.random\b|\bcrypto\.(?!subtle\.digest\b)|\bsetTimeout\b|\bsetInterval\b|\bsetImmediate\b|\bAbortSignal\.timeout\b|\bfetch\(/;
  const wrong = inCore.flatMap(({ path, imports }) => [
    ...linesMatching(path, readCode(path), forbidden),
    ...imports.filter((name) => /^(node:|bun($|:))/.test(name)).map((name) => `${path}: ${name}`),
  ]);
  expect(wrong).toEqual([]);
});

test("packages import the core alone; nobody imports the command", () => {
  const wrong = files
    .filter(({ path }) => /^(packages|apps)\//.test(path))
    .flatMap(({ path, imports }) => {
      const own = manifest(folderOf(path)).name;
      const isAllowed = (name: string): boolean =>
        path.startsWith("apps/cli/")
          ? !name.startsWith("@interlace/cli")
          : name === "@interlace/core" || packageOf(name) === own;
      return imports
        .filter((name) => name.startsWith("@interlace/") && !isAllowed(name))
        .map((name) => `${path} imports ${name}`);
    });
  expect(wrong).toEqual([]);
});

test("nothing reaches into another package by a path", () => {
  const wrong = files
    .filter(({ path }) => /^(packages|apps)\//.test(path))
    .flatMap(({ path, imports }) =>
      imports
        .filter(isRelative)
        .map((specifier) => normalize(join(dirname(path), specifier)))
        .filter((target) => folderOf(target) !== folderOf(path))
        .map((target) => `${path} imports ${target}`),
    );
  expect(wrong).toEqual([]);
});

test("relative imports name the file with its extension", () => {
  const wrong = files.flatMap(({ path, imports }) =>
    imports
      .filter((name) => isRelative(name) && !/\.(ts|json|jsonl|wasm)$/.test(name))
      .map((name) => `${path} imports ${name}`),
  );
  expect(wrong).toEqual([]);
});

test("a package's code imports only what its own package.json installs", () => {
  const wrong = files
    .filter(({ path }) => /^(packages|apps)\/[^/]+\/(src|test)\//.test(path))
    .flatMap(({ path, imports }) => {
      const { name, dependencies, devDependencies } = manifest(folderOf(path));
      const installed = new Set([name, ...Object.keys(dependencies ?? {})]);
      if (path.includes("/test/")) {
        // The root's tools are every test's tools.
        const tools = Object.keys({ ...devDependencies, ...manifest(".").devDependencies });
        for (const tool of tools) installed.add(tool);
      }
      return imports
        .filter((specifier) => !isRelative(specifier) && !/^(node:|bun($|:))/.test(specifier))
        .filter((specifier) => !installed.has(packageOf(specifier)))
        .map((specifier) => `${path} imports ${specifier}`);
    });
  expect(wrong).toEqual([]);
});

test("package.json files say the same: a package depends on no other package but the core", () => {
  const packages = workspaceFolders.filter((folder) => folder.startsWith("packages/"));
  const wrong = packages.flatMap((folder) => {
    const { name, dependencies, devDependencies } = manifest(folder);
    return Object.keys({ ...dependencies, ...devDependencies })
      .filter((dependency) => dependency.startsWith("@interlace/"))
      .filter((dependency) => dependency !== "@interlace/core" || name === "@interlace/core")
      .map((dependency) => `${name} depends on ${dependency}`);
  });
  expect(wrong).toEqual([]);
});
