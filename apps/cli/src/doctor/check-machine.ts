/** This machine: the runtime, room to work in, the Python that runs the model's code. */
import { statfsSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import { dirname, resolve } from "node:path";
import { existsSync } from "node:fs";
import { findPython } from "@interlace/sandbox";
import packageJson from "../../package.json";
import { messageOf } from "../person-error.ts";
import { reporterFor, type Finding } from "./finding.ts";

const GIGABYTE = 1e9;
/** Below this a batch of long trajectories does not fit. */
const FEW_BYTES = 2 * GIGABYTE;
/** Preloaded by the warm pool, and what mathematics calls for. */
const MODULES = ["numpy", "sympy"] as const;

export async function checkMachine(
  out: string,
  python: string | null,
  findings: Finding[],
): Promise<void> {
  const report = reporterFor("machine", findings);
  const pinned = packageJson.engines.bun;
  if (Bun.semver.order(Bun.version, pinned) >= 0) report.ok("bun", Bun.version);
  else report.broken("bun", `${Bun.version}, expected ${pinned}`, `npx -y bun@${pinned} run …`);

  const cores = availableParallelism();
  report.ok(
    "cores, memory",
    `${cores} cores, ${(totalmem() / GIGABYTE).toFixed(1)} GB, ${process.platform} ${process.arch}`,
  );
  checkDisk(out, report);
  await checkPython(python, report);
  checkRequests(report);
}

function checkDisk(out: string, report: ReturnType<typeof reporterFor>): void {
  let folder = resolve(out);
  while (!existsSync(folder)) folder = dirname(folder);
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const seen = `${(free / GIGABYTE).toFixed(1)} GB free at ${folder}`;
  if (free >= FEW_BYTES) report.ok("disk", seen);
  else report.note("disk", seen, "free some space, or name another folder with --out");
}

async function checkPython(
  wanted: string | null,
  report: ReturnType<typeof reporterFor>,
): Promise<void> {
  try {
    const found = await findPython(wanted ?? undefined);
    report.ok("python", `${found.version.join(".")} at ${found.executable}`);
    const missing: string[] = [];
    for (const name of MODULES) {
      const child = Bun.spawnSync([found.executable, "-I", "-c", `import ${name}`]);
      if (!child.success) missing.push(name);
    }
    if (missing.length === 0) report.ok("python packages", MODULES.join(", "));
    else {
      report.note(
        "python packages",
        `${missing.join(", ")} cannot be imported: the model's code that needs them ends in an error`,
        `${found.executable} -m pip install ${missing.join(" ")}`,
      );
    }
  } catch (error) {
    report.broken(
      "python",
      messageOf(error),
      "install Python 3.11 or later, or name one: sandbox.python",
    );
  }
}

/** Bun's own limit is read when it starts; our launcher raises it. */
function checkRequests(report: ReturnType<typeof reporterFor>): void {
  const limit = Number(process.env["BUN_CONFIG_MAX_HTTP_REQUESTS"] ?? 256);
  const seen = `${limit} HTTP requests at once`;
  if (limit >= 4096) report.ok("requests", seen);
  else {
    report.note(
      "requests",
      `${seen}: more than that wait in line`,
      "start it as bun run …, or set BUN_CONFIG_MAX_HTTP_REQUESTS=65535",
    );
  }
}
