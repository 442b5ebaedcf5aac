/**
 * What the tests need besides the workspace: a Python with the independent oracles, and Debian's
 * packages for the parts of the machine that are tested.
 *
 * In: `requirements.txt` beside this file. Out: `.interlace/test-venv`. A user of Interlace needs
 * none of it; no product code looks here.
 */
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { runQuietly, say, SetupError, STATE, withLock } from "../workspace.ts";

interface BasePython {
  /** The real binary: a version manager's shim would change its mind with its settings. */
  readonly path: string;
  readonly version: string;
}

/** 3.11 first: the release for which the oracles are pinned, and the oldest that we support. */
const PYTHON_NAMES = ["python3.11", "python3", "python3.12", "python3.13", "python3.14", "python"];

const PYTHON_HINT =
  "the tests check against independent oracles in it: apt-get install python3 python3-venv";

const PROBE = `
import os, sys
assert sys.version_info >= (3, 11)
import ensurepip, venv
print(os.path.realpath(getattr(sys, "_base_executable", sys.executable)))
print("%d.%d.%d" % sys.version_info[:3])`;

/**
 * Makes the environment that `requirements.txt` describes, once, and returns its Python.
 *
 * Each content has a folder of its own, and `test-venv` points to the one that is complete, so that a
 * running test never loses its packages. What was cut off is made again, from pip's own cache: half a
 * package can look like a whole one.
 */
export async function preparePython(): Promise<string> {
  const requirements = join(import.meta.dir, "requirements.txt");
  const link = join(STATE, "test-venv");
  const wanted = readFileSync(requirements, "utf8");
  const python = join(link, "bin/python");
  const stamp = "made-from";
  const isCurrent = (folder: string): boolean =>
    existsSync(join(folder, stamp)) && readFileSync(join(folder, stamp), "utf8") === wanted;
  if (isCurrent(link) && existsSync(python)) return python;

  await withLock("test-venv", async () => {
    if (isCurrent(link) && existsSync(python)) return; // another process made it meanwhile
    const base = findPython();
    const key = new Bun.CryptoHasher("sha256")
      .update(`${base.path}\n${base.version}\n${wanted}`)
      .digest("hex")
      .slice(0, 12);
    const folder = join(STATE, "venvs", key);
    if (!isCurrent(folder)) {
      say(`making the tests' Python ${base.version} environment in .interlace/ (once, 1.5 GB)`);
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(join(STATE, "venvs"), { recursive: true });
      await runQuietly([base.path, "-m", "venv", folder], "venv could not make an environment");
      await runQuietly(
        [join(folder, "bin/python"), "-m", "pip", "install", "--quiet", "-r", requirements],
        "pip could not install tools/test/requirements.txt, for which it needs PyPI once",
        { PIP_DISABLE_PIP_VERSION_CHECK: "1", PIP_NO_INPUT: "1" },
      );
      writeFileSync(join(folder, stamp), wanted);
    }
    const fresh = join(STATE, "test-venv.tmp");
    rmSync(fresh, { force: true });
    symlinkSync(join("venvs", key), fresh);
    renameSync(fresh, link);
  });
  return python;
}

/** Debian's bubblewrap, for the sandbox level that it gives. Without it those tests are skipped. */
export async function prepareMachine(): Promise<void> {
  if (process.platform !== "linux" || Bun.which("bwrap") !== null) return;
  await installDebianPackage("bubblewrap", "tests of the sandbox level that needs it are skipped");
}

async function installDebianPackage(name: string, without: string): Promise<void> {
  if (process.getuid?.() !== 0 || Bun.which("apt-get") === null) {
    say(`${name} is not installed and cannot be by this user, so ${without}`);
    return;
  }
  await withLock("debian", async () => {
    say(`installing Debian's ${name} (once)`);
    const install = ["install", "-y", "--no-install-recommends", name];
    // A machine's package lists may be too old, or not there yet.
    const done = (await apt(install)) || ((await apt(["update"])) && (await apt(install)));
    if (!done) say(`Debian's ${name} could not be installed, so ${without}`);
  });
}

async function apt(args: readonly string[]): Promise<boolean> {
  const child = Bun.spawn(["apt-get", "-q", "-o", "DPkg::Lock::Timeout=300", ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  });
  return (await child.exited) === 0;
}

function findPython(): BasePython {
  for (const name of PYTHON_NAMES) {
    const path = Bun.which(name);
    if (path === null) continue;
    const probe = Bun.spawnSync([path, "-c", PROBE], { stdout: "pipe", stderr: "ignore" });
    const [real, version] = probe.stdout.toString().trim().split("\n");
    if (probe.success && real !== undefined && version !== undefined) {
      return { path: real, version };
    }
  }
  throw new SetupError(`Expected Python 3.11 or later with venv, found none; ${PYTHON_HINT}`);
}
