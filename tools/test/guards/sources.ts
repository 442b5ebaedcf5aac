/**
 * The checkout as text, for the guards. In: what git tracks. Out: paths, contents, imports.
 * Reads source as text: a guard must not depend on the code that it guards.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../workspace.ts";

export interface Manifest {
  readonly name: string;
  readonly license?: string;
  readonly type?: string;
  readonly packageManager?: string;
  readonly exports?: unknown;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** Paths from the root, with `/`, that git tracks and that are still there. */
export const trackedFiles: readonly string[] = listTracked();

/** TypeScript and Python that is written by hand. */
export const sourceFiles = trackedFiles.filter((path) => /\.(ts|py)$/.test(path));

export const workspaceFolders: readonly string[] = ["packages", "apps"].flatMap((group) =>
  readdirSync(join(ROOT, group), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${group}/${name}`)
    .toSorted(),
);

export function read(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

export function manifest(folder: string): Manifest {
  return JSON.parse(read(join(folder, "package.json")));
}

/** What a file imports, types too, also by `import()`. Imports stand at the start of a line. */
export function importsOf(code: string): readonly string[] {
  const patterns = [
    /^\s*(?:import|export)\b[^;"']*?\bfrom\s*["']([^"']+)["']/gm,
    /^\s*import\s*["']([^"']+)["']/gm,
    /\bimport\(\s*["']([^"']+)["']/g,
  ];
  return patterns.flatMap((pattern) => [...code.matchAll(pattern)].map((match) => match[1] ?? ""));
}

/** `@scope/name/deep` → `@scope/name`. */
export function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

const codeByPath = new Map<string, string>();

/** A file's code without what is none; stripped once. */
export function readCode(path: string): string {
  const code = codeByPath.get(path) ?? codeOnly(read(path));
  codeByPath.set(path, code);
  return code;
}

/**
 * Code with comments and the contents of strings, templates and regular expressions blanked, so that words in
 * them do not count. Line numbers stay. What stands in `${}` is code.
 */
export function codeOnly(text: string): string {
  const blank = (match: string): string => match.replaceAll(/[^\n]/g, " ");
  /** Depth of braces at which each open `${` closes again. */
  const templates: number[] = [];
  let depth = 0;
  let out = "";
  /** The end of what is written, short: a look back must not cost more the longer the file is. */
  let recent = "";
  let at = 0;
  const write = (piece: string): void => {
    out += piece;
    recent = (recent + piece.slice(-40)).slice(-40);
  };
  const take = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text)?.[0] ?? null;
    if (match !== null) at += match.length;
    return match;
  };
  while (at < text.length) {
    const trivia = take(COMMENT) ?? take(STRING) ?? (endsExpression(recent) ? null : take(REGEXP));
    if (trivia !== null) {
      write(blank(trivia));
      continue;
    }
    const c = text[at];
    const closes = c === "}" && templates.at(-1) === depth;
    if (c === "{") depth += 1;
    if (c === "}" && !closes) depth -= 1;
    if (closes) templates.pop();
    if (c === "`" || closes) {
      at += 1;
      const body = take(TEMPLATE_PART) ?? "";
      write(` ${blank(body)}`);
      if (body.endsWith("${")) templates.push(depth);
      continue;
    }
    write(c ?? "");
    at += 1;
  }
  return out;
}

const COMMENT = /\/\*[\s\S]*?\*\/|\/\/[^\n]*/y;
const STRING = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/y;
const REGEXP = /\/(?![/*])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
/** Up to the closing backtick or the next `${`, both included. */
const TEMPLATE_PART = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*(?:`|\$\{)/y;

/** A slash after a value divides; elsewhere it begins a regular expression. */
function endsExpression(before: string): boolean {
  return /[\w)\]}]\s*$/.test(before) && !/\b(return|typeof|case|in|of)\s*$/.test(before);
}

/** `path:line: text` of each line that matches, for a failure that can be clicked. */
export function linesMatching(path: string, text: string, pattern: RegExp): readonly string[] {
  return text
    .split("\n")
    .flatMap((line, i) => (pattern.test(line) ? [`${path}:${i + 1}: ${line.trim()}`] : []));
}

function listTracked(): readonly string[] {
  const git = Bun.spawnSync(["git", "ls-files", "-z"], { cwd: ROOT, stderr: "ignore" });
  if (!git.success) throw new Error("Expected a git checkout, whose tracked files the guards read");
  const paths = git.stdout.toString().split("\0");
  return paths.filter((path) => path !== "" && Bun.file(join(ROOT, path)).size > 0).toSorted();
}
