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

const PROBE = `
import json, os, sys
print(json.dumps({
    "executable": sys.executable,
    "prefixes": sorted({sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}),
    "version": sys.version_info[:3],
    "path": [entry for entry in sys.path if entry and os.path.exists(entry)],
}))
`;

type Probed = {
  readonly executable: string;
  readonly prefixes: readonly string[];
  readonly version: [number, number, number];
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
  const [bare, full] = await Promise.all([
    probe(found, ["-I", "-S", "-B"]),
    probe(found, ["-I", "-B"]),
  ]);
  if (bare === null || full === null) {
    throw new Error(
      `Expected ${found} to be a Python ${oldest} or later, but it did not run a small program; name another interpreter`,
    );
  }
  const [major, minor] = full.version;
  if (major !== OLDEST_PYTHON[0] || minor < OLDEST_PYTHON[1]) {
    throw new Error(
      `Expected Python ${oldest} or later, found ${full.version.join(".")} at ${full.executable}; install a later one or name it`,
    );
  }
  return {
    executable: full.executable,
    prefixes: full.prefixes,
    version: full.version,
    packages: full.path.filter((entry) => !bare.path.includes(entry)),
    library: bare.path,
  };
}

async function probe(program: string, flags: readonly string[]): Promise<Probed | null> {
  const child = Bun.spawn([program, ...flags, "-c", PROBE], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  const text = await child.stdout.text();
  return (await child.exited) === 0 ? (JSON.parse(text) as Probed) : null;
}
