/**
 * In: a pinned requirements list and a folder. Out: the interpreter of an environment that holds exactly it.
 * Refuses to know: what the packages do.
 * An environment is built beside its place and renamed into it when it is whole: a half-made one is never
 * used, and of two processes that build at once the slower takes the other's.
 */
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { findPython } from "./find-python.ts";

export type PythonEnvOptions = {
  /** Environments lie in it side by side; made when it is not there. */
  readonly folder: string;
  /** Begins the environment's name. */
  readonly name: string;
  /** Text of a requirements list, every release pinned. */
  readonly requirements: string;
  /** Name or path of the interpreter to build on; absent = the first fitting one of the PATH. */
  readonly python?: string;
  /** Told one line before something is built, none when nothing is. */
  readonly tell?: (line: string) => void;
  /** For building it all, 600 by default. */
  readonly timeoutSeconds?: number;
};

export type PythonEnv =
  | { readonly ok: true; readonly python: string; readonly made: boolean }
  | {
      readonly ok: false;
      readonly reason: "no_python" | "venv_failed" | "install_failed" | "folder_failed";
      readonly detail: string;
    };

/** In the finished environment; says which list it was made from. */
const STAMP = "interlace-env.json";

/** Never rejects: where no environment can be had, the reason is the answer. */
export async function ensurePythonEnv(options: PythonEnvOptions): Promise<PythonEnv> {
  const found = await findPython(options.python);
  if (!found.ok) return { ok: false, reason: "no_python", detail: found.detail };
  const { python, version } = found;

  const stamp = stampOf(options.requirements, version);
  const folder = resolve(options.folder);
  const place = join(folder, `${options.name}-${stamp}`);
  try {
    if (await isWhole(place, stamp)) return { ok: true, python: interpreter(place), made: false };
    await mkdir(folder, { recursive: true });
    await removeLeftovers(folder, options.name);
    options.tell?.(`Making a Python ${version} environment (${options.name}) in ${place}, once`);

    const part = join(folder, `${options.name}-${process.pid}-${crypto.randomUUID()}.part`);
    try {
      const failed = await build(part, python, options);
      if (failed !== null) return failed;
      await Bun.write(join(part, STAMP), JSON.stringify({ stamp }));
      await moveIn(part, place, stamp);
    } finally {
      await rm(part, { recursive: true, force: true });
    }
    return { ok: true, python: interpreter(place), made: true };
  } catch (error) {
    const detail = `Expected to make an environment in ${folder}: ${String(error)}`;
    return { ok: false, reason: "folder_failed", detail };
  }
}

function stampOf(requirements: string, version: string): string {
  const hash = new Bun.CryptoHasher("sha256");
  return hash.update(`${version}\n${requirements}`).digest("hex").slice(0, 12);
}

function interpreter(place: string): string {
  return join(place, "bin", "python");
}

async function isWhole(place: string, stamp: string): Promise<boolean> {
  try {
    const written = (await Bun.file(join(place, STAMP)).json()) as { readonly stamp?: unknown };
    // Follows the link: an environment whose Python has been removed is none.
    return written.stamp === stamp && (await Bun.file(interpreter(place)).exists());
  } catch {
    return false;
  }
}

async function build(
  part: string,
  python: string,
  options: PythonEnvOptions,
): Promise<Extract<PythonEnv, { ok: false }> | null> {
  const deadline = Date.now() + (options.timeoutSeconds ?? 600) * 1000;
  const venv = await run([python, "-m", "venv", part], deadline);
  if (venv !== null) {
    const hint = "on Debian and Ubuntu the package python3-venv is needed";
    return { ok: false, reason: "venv_failed", detail: `${python} -m venv: ${venv}; ${hint}` };
  }
  const list = join(part, "requirements.txt");
  await Bun.write(list, options.requirements);
  const pip = [interpreter(part), "-m", "pip", "install", "--quiet", "--no-input"];
  const quick = ["--disable-pip-version-check", "--retries", "2", "--timeout", "20"];
  const install = await run([...pip, ...quick, "--requirement", list], deadline);
  if (install === null) return null;
  return { ok: false, reason: "install_failed", detail: `pip install: ${install}` };
}

/** null = it went well; else the end of what it said. The whole group ends with the time. */
async function run(command: readonly string[], deadline: number): Promise<string | null> {
  const child = Bun.spawn([...command], {
    env: { ...process.env, PYTHONHOME: undefined, PYTHONPATH: undefined, PIP_USER: "0" },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
    detached: true,
  });
  let late = false;
  const timer = setTimeout(
    () => {
      late = true;
      process.kill(-child.pid, "SIGKILL");
    },
    Math.max(0, deadline - Date.now()),
  );
  try {
    const [said, code] = await Promise.all([child.stderr.text(), child.exited]);
    if (late) return "took too long";
    return code === 0 ? null : `exit code ${code}: ${said.trim().slice(-500)}`;
  } finally {
    clearTimeout(timer);
  }
}

/** Renaming onto a folder that is not empty fails: either another process was first, or it is half-made. */
async function moveIn(part: string, place: string, stamp: string): Promise<void> {
  try {
    await rename(part, place);
  } catch (error) {
    if (await isWhole(place, stamp)) return;
    if (!(await isFolder(place))) throw error;
    await rename(place, `${part}.old`);
    await rm(`${part}.old`, { recursive: true, force: true });
    await moveIn(part, place, stamp);
  }
}

async function isFolder(path: string): Promise<boolean> {
  return readdir(path).then(
    () => true,
    () => false,
  );
}

/** Parts whose builder is dead. One still alive, or a namesake of its number, keeps its part. */
async function removeLeftovers(folder: string, name: string): Promise<void> {
  for (const entry of await readdir(folder)) {
    if (!entry.startsWith(`${name}-`)) continue;
    const pid = /^(\d+)-[0-9a-f-]+\.part(?:\.old)?$/.exec(entry.slice(name.length + 1))?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    await rm(join(folder, entry), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
