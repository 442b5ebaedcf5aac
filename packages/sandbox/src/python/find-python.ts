/**
 * Finds the Python that runs the model's code, once: the real binary behind a version manager's
 * shim (which would cost some 50 ms a call), and where its packages lie.
 */

export type Python = {
  /** Absolute path of the interpreter itself; inside a virtual environment, of that one. */
  readonly executable: string;
  /** Where the interpreter and its standard library are installed; the environment's own prefix too. */
  readonly prefixes: readonly string[];
  readonly version: readonly [number, number, number];
  /** Folders of installed packages: `sys.path` less what the bare interpreter has. */
  readonly packages: readonly string[];
  /** Folders of the standard library. */
  readonly library: readonly string[];
};

export const OLDEST_PYTHON = [3, 11] as const;

/** Begins as `-S` does, without packages, and then has them as any other: a second start behind a shim costs 50 ms. */
const PROBE = `
import json, os, sys
def folders():
    return [entry for entry in sys.path if entry and os.path.exists(entry)]
library = folders()
import site
site.main()
print(json.dumps({
    "executable": sys.executable,
    "prefixes": sorted({sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}),
    "version": sys.version_info[:3],
    "library": library,
    "path": folders(),
}))
`;

type Probed = {
  readonly executable: string;
  readonly prefixes: readonly string[];
  readonly version: [number, number, number];
  readonly library: readonly string[];
  readonly path: readonly string[];
};

/** `wanted`: a path or a name on PATH. Throws an error for a person when there is none or it is too old. */
export async function findPython(wanted = "python3"): Promise<Python> {
  const oldest = OLDEST_PYTHON.join(".");
  const found = Bun.which(wanted);
  if (found === null) {
    throw new Error(
      `Expected Python ${oldest} or later as "${wanted}" to run the model's code, found no such program; install it (apt-get install python3, brew install python) or name another one`,
    );
  }
  const probed = await probe(found);
  if (probed === null) {
    throw new Error(
      `Expected ${found} to be a Python ${oldest} or later, but it did not run a small program; name another interpreter`,
    );
  }
  const { executable, prefixes, version, library, path } = probed;
  const [major, minor] = version;
  if (major !== OLDEST_PYTHON[0] || minor < OLDEST_PYTHON[1]) {
    throw new Error(
      `Expected Python ${oldest} or later, found ${version.join(".")} at ${executable}; install a later one or name it`,
    );
  }
  const packages = path.filter((entry) => !library.includes(entry));
  return { executable, prefixes, version, packages, library };
}

async function probe(program: string): Promise<Probed | null> {
  const child = Bun.spawn([program, "-I", "-S", "-B", "-c", PROBE], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  const text = await child.stdout.text();
  return (await child.exited) === 0 ? (JSON.parse(text) as Probed) : null;
}
