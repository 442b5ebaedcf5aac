/**
 * In: names or paths of interpreters. Out: the first that is Python 3.11 or newer, as its real binary.
 * Refuses to know: what it will run. A version manager's shim is never handed on: what it starts depends
 * on the folder it is started in.
 */
const CANDIDATES = [
  "python3",
  "python3.14",
  "python3.13",
  "python3.12",
  "python3.11",
  "python",
] as const;
const OLDEST = [3, 11] as const;
/** An interpreter of an environment answers with the one that it was made on. */
const PROBE = `
import json, os, sys
real = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
print(json.dumps([real, sys.version_info[0], sys.version_info[1]]))`;
const PROBE_TIMEOUT_MS = 20_000;

export type FoundPython =
  | { readonly ok: true; readonly python: string; readonly version: string }
  | { readonly ok: false; readonly detail: string };

/** `wanted`: a name or a path that is tried alone; absent = the usual names, in the PATH. */
export async function findPython(wanted?: string): Promise<FoundPython> {
  const seen: string[] = [];
  for (const name of wanted === undefined ? CANDIDATES : [wanted]) {
    const path = Bun.which(name);
    if (path === null) continue;
    const probed = await probe(path);
    if (probed === null) {
      seen.push(`${path} does not start`);
      continue;
    }
    const [python, major, minor] = probed;
    const version = `${major}.${minor}`;
    if (major === OLDEST[0] && minor >= OLDEST[1]) return { ok: true, python, version };
    seen.push(`${python} is ${version}`);
  }
  const found = seen.length === 0 ? `no ${wanted ?? "python3"} in the PATH` : seen.join(", ");
  return { ok: false, detail: `Expected Python ${OLDEST.join(".")} or newer, found: ${found}` };
}

async function probe(path: string): Promise<readonly [string, number, number] | null> {
  const child = Bun.spawn([path, "-c", PROBE], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
    timeout: PROBE_TIMEOUT_MS,
    killSignal: "SIGKILL",
  });
  const [text, code] = await Promise.all([child.stdout.text(), child.exited]);
  if (code !== 0) return null;
  try {
    const [executable, major, minor] = JSON.parse(text) as [string, number, number];
    return executable === "" ? null : [executable, major, minor];
  } catch {
    return null;
  }
}
