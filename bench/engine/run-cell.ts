/**
 * One cell, once, by one driver in a process of its own. In: a server that is up, a cell. Out: what the driver says
 * of itself, the server's CPU and the load. Files go to a folder that is removed, verified before where that is
 * asked; what does not pass stays.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { commandEnvironment } from "../../tools/workspace.ts";
import type { DriverName } from "./cells.ts";
import type { Measured } from "./usage.ts";
import { verifyRun, type Verified } from "./verify-run.ts";
import { criticalPathMs, type Cell } from "./workload.ts";

export type Run = Measured & {
  readonly criticalMs: readonly number[];
  readonly serverCpuMs: number;
  /** One-minute load when it began. */
  readonly load: number;
  /** null = not asked, or no run of ours. */
  readonly verified: Verified | null;
};

export type Place = {
  readonly serverUrl: string;
  readonly python: string;
  readonly planPath: string;
  readonly problemsPath: string;
};

const HERE = import.meta.dir;

export async function runCell(
  driver: DriverName,
  cell: Cell,
  place: Place,
  verify: boolean,
): Promise<Run> {
  const { serverUrl: url, python, planPath, problemsPath } = place;
  const folder = mkdtempSync(join(tmpdir(), "interlace-bench-"));
  let isKept = false;
  try {
    await post(`${url}/bench/cell`, cell);
    const [load = Number.NaN] = loadavg();
    const before = await serverCpu(url);
    const command = {
      interlace: [
        process.execPath,
        join(HERE, "interlace-driver.ts"),
        url,
        folder,
        JSON.stringify(cell),
        problemsPath,
      ],
      bare: [process.execPath, join(HERE, "bare-driver.ts"), url, planPath],
      python: [python, join(HERE, "python_driver.py"), url, planPath],
    }[driver];
    const measured = await start(command);
    const serverCpuMs = (await serverCpu(url)) - before;
    const criticalMs = measured.wallMs.map((_, i) => criticalPathMs(cell, i + 1));
    const isOurs = driver === "interlace";
    isKept = verify && isOurs;
    const verified = isKept ? await verifyRun(join(folder, "runs")) : null;
    isKept = false;
    return { ...measured, criticalMs, serverCpuMs, load, verified };
  } finally {
    if (!isKept) rmSync(folder, { recursive: true, force: true });
  }
}

async function start(command: readonly string[]): Promise<Measured> {
  const child = Bun.spawn([...command], {
    // Without it fetch has 256 requests under way, and a cell of 512 waits for itself.
    env: commandEnvironment(),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const [text, code] = await Promise.all([child.stdout.text(), child.exited]);
  const line = text.trim().split("\n").at(-1) ?? "";
  if (code !== 0 || line === "")
    throw new Error(`Expected ${command.join(" ")} to end well, exit code ${code}`);
  return JSON.parse(line) as Measured;
}

async function serverCpu(url: string): Promise<number> {
  const { cpuMs } = (await (await fetch(`${url}/bench/cpu`)).json()) as { readonly cpuMs: number };
  return cpuMs;
}

async function post(url: string, body: unknown): Promise<void> {
  const response = await fetch(url, { method: "POST", body: JSON.stringify(body) });
  if (!response.ok)
    throw new Error(`Expected ${url} to take a cell, it answered ${response.status}`);
}
