/** Variables that tell numeric libraries which processor this is; dropping them can crash old ones. */
const PROCESSOR = ["OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"];

/** The whole environment of the model's code: nothing of the host's but what describes the processor. */
export function cleanEnvironment(home: string): Record<string, string> {
  const processor = PROCESSOR.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: home,
    TMPDIR: home,
    LANG: "C.UTF-8",
    PYTHONHASHSEED: "0",
    OMP_NUM_THREADS: "1",
    OPENBLAS_NUM_THREADS: "1",
    MKL_NUM_THREADS: "1",
    VECLIB_MAXIMUM_THREADS: "1",
    ...Object.fromEntries(processor),
  };
}

/**
 * No user packages, no `site`, no bytecode written, nothing of the script's folder on the path. Not
 * `-I`, which would also ignore PYTHONHASHSEED.
 */
export const PYTHON_FLAGS = ["-s", "-S", "-B", "-P"] as const;

/** Where the Python files of this package lie. */
export function pythonFile(name: string): string {
  return Bun.fileURLToPath(new URL(`../../python/${name}`, import.meta.url));
}
