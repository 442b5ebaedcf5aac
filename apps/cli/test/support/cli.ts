/** The command as a person runs it: a process of its own in a folder of its own, with a plain environment. */
import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MAIN = join(import.meta.dir, "../../src/main.ts");
const ROOT = join(import.meta.dir, "../../../..");

export const PYTHON = join(ROOT, ".interlace/test-venv/bin/python");

export type Ended = { readonly code: number; readonly stdout: string; readonly stderr: string };
type Env = Readonly<Record<string, string>>;

export function newFolder(): string {
  return mkdtempSync(join(tmpdir(), "interlace-cli-"));
}

export async function runCli(args: readonly string[], cwd: string, env: Env = {}): Promise<Ended> {
  const child = spawnCli(args, cwd, env);
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, stdout, stderr };
}

export function spawnCli(args: readonly string[], cwd: string, env: Env = {}) {
  const { PATH = "", HOME = "" } = process.env;
  return Bun.spawn([process.execPath, MAIN, ...args], {
    cwd,
    env: { PATH, HOME, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
}

/** Reads a stream until it has said `text`, and goes on reading in the background. */
export async function waitForText(stream: ReadableStream<Uint8Array>, text: string): Promise<void> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let said = "";
  while (!said.includes(text)) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`Expected ${JSON.stringify(text)}, the stream ended with:\n${said}`);
    said += decoder.decode(value, { stream: true });
  }
  void (async () => {
    while (!(await reader.read()).done);
  })();
}

/** The only run folder in `out`. */
export function onlyRun(out: string): string {
  const names = readdirSync(out);
  if (names.length !== 1) throw new Error(`Expected one run in ${out}, seen ${names.join(", ")}`);
  return join(out, names[0] as string);
}

/** Runs a script with the tests' Python; it prints one JSON value. */
export function askPython(script: string, args: readonly string[] = []): Promise<unknown> {
  return pythonJson(["-c", script, ...args]);
}

/** The same for a script in a file. */
export function askPythonFile(path: string, args: readonly string[] = []): Promise<unknown> {
  return pythonJson([path, ...args]);
}

async function pythonJson(args: readonly string[]): Promise<unknown> {
  const child = Bun.spawn([PYTHON, ...args], { stdout: "pipe", stderr: "pipe" });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(`Python ended with ${code}: ${err}`);
  return JSON.parse(out);
}
