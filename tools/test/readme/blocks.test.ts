/** Every block of the README, of the packages' READMEs and of the docs does what it says. */
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { ROOT, STATE } from "../../workspace.ts";
import { readBlocks, type Block, type Language } from "../readme-blocks.ts";

/** A whole rollout with its install check, on a busy machine. */
const LIMIT_MS = 180_000;

const pages = [
  "README.md",
  ...["packages/*/README.md", "apps/*/README.md", "docs/**/*.md"].flatMap((pattern) =>
    [...new Bun.Glob(pattern).scanSync({ cwd: ROOT })].toSorted(),
  ),
].filter((page) => existsSync(join(ROOT, page)));

const scratch = mkdtempSync(join(tmpdir(), "interlace-readme-"));
const programs: string[] = [];

afterAll(() => {
  // A block may have made a Python environment: thousands of files.
  rmSync(scratch, { recursive: true });
  for (const program of programs) rmSync(program);
}, LIMIT_MS);

for (const page of pages) {
  describe(page, () => {
    for (const block of readBlocks(readFileSync(join(ROOT, page), "utf8"))) {
      const name = `line ${block.line} (${block.language})`;
      const { fate } = block;
      switch (fate.kind) {
        case "not_run":
          test.skip(`${name} is not run here: ${fate.reason}`, () => {});
          break;
        case "run":
          test(name, () => runBlock(page, block), LIMIT_MS);
          break;
        case "unmarked":
          test(name, () => {
            throw new Error("Expected <!-- test --> or <!-- not run: reason --> before this block");
          });
      }
    }
  });
}

async function runBlock(page: string, { language, line, code, output }: Block): Promise<void> {
  switch (language) {
    case "ts": {
      const program = writeProgram(page, line, code, "ts");
      await checkTypes(program);
      expectOutput(await run([process.execPath, program], newFolder()), output);
      break;
    }
    case "python": {
      const program = writeProgram(page, line, code, "py");
      expectOutput(await run([join(STATE, "test-venv/bin/python"), program], newFolder()), output);
      break;
    }
    case "sh":
      // Typed in the checkout, as its reader would.
      expectOutput(await run(["bash", "-euo", "pipefail", "-c", code], ROOT), output);
  }
}

/** What a reader copies must satisfy a strict checker. Mistakes in what it imports are found elsewhere. */
async function checkTypes(program: string): Promise<void> {
  const check = Bun.spawn([process.execPath, "check", "--no-script", "--no-pretty", program], {
    cwd: ROOT,
    stdout: "pipe",
    stderr: "ignore",
  });
  const lines = (await check.stdout.text()).split("\n");
  expect(lines.filter((line) => line.includes(basename(program)))).toEqual([]);
}

/** Programs must not count on where they are started. */
function newFolder(): string {
  return mkdtempSync(join(scratch, "block-"));
}

async function run(command: readonly string[], cwd: string): Promise<string> {
  const child = Bun.spawn([...command], { cwd, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr, code] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(`${command[0]} ended with exit code ${code}\n${stdout}${stderr}`);
  return stdout;
}

function expectOutput(seen: string, expected: string | null): void {
  if (expected !== null) expect(seen.trimEnd()).toBe(expected.trimEnd());
}

/** Into the page's own package, so that imports resolve as they do for its reader. */
function writeProgram(page: string, line: number, code: string, extension: string): string {
  const own = /^(packages|apps)\/[^/]+/.exec(page)?.[0] ?? "apps/cli";
  const folder = join(ROOT, own, ".interlace");
  mkdirSync(folder, { recursive: true });
  const name = `${page.replaceAll(/\W/g, "-")}-${line}-${process.pid}.${extension}`;
  const program = join(folder, name);
  writeFileSync(program, code);
  programs.push(program);
  return program;
}

test("there are pages with blocks to run", () => {
  const languages = pages.flatMap((page) =>
    readBlocks(readFileSync(join(ROOT, page), "utf8")).map(({ language }): Language => language),
  );
  expect(languages).toContain("ts");
});
