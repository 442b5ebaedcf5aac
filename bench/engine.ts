/**
 * What a turn costs the engine, beside the least that Bun and Python can do: one command, one table.
 *
 *   bun run bench engine [--quick] [--check] [--rounds N] [--only TEXT]… [--no-verify] [--json FILE]
 *
 * A mock server answers from bytes made before; drivers take turns, a process each. Method: bench/README.md.
 * `--check` exits 1 where a goal is missed; results also go to a JSON file. A run that does not pass `verify` ends it.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { ensurePythonEnv } from "../packages/graders/src/python-env/ensure-python-env.ts";
import { cellsOf, nameOf, type DriverName, type Planned } from "./engine/cells.ts";
import { judge, type Row } from "./engine/goals.ts";
import { openLanguage } from "./engine/language.ts";
import { makePlanFile, makeProblemFile } from "./engine/plan-file.ts";
import { runCell, type Run } from "./engine/run-cell.ts";
import { printTable, printVerdicts } from "./engine/table.ts";
import { describeVerified } from "./engine/verify-run.ts";

const ROOT = dirname(import.meta.dir);

const { values: flags } = parseArgs({
  allowNegative: true,
  options: {
    quick: { type: "boolean", default: false },
    check: { type: "boolean", default: false },
    rounds: { type: "string" },
    only: { type: "string", multiple: true, default: [""] },
    verify: { type: "boolean", default: true },
    json: { type: "string", default: join(ROOT, ".interlace", "bench", "engine.json") },
  },
});
const rounds = Number(flags.rounds ?? (flags.quick ? 1 : 3));

const env = await ensurePythonEnv({
  folder: join(ROOT, ".interlace"),
  name: "bench",
  requirements: await Bun.file(new URL("engine/requirements.txt", import.meta.url)).text(),
  tell: (line) => console.error(line),
});
if (!env.ok) console.error(`No Python to compare with: ${env.detail}`);

const language = await openLanguage();
const folder = mkdtempSync(join(tmpdir(), "interlace-bench-plan-"));
const server = Bun.spawn([process.execPath, join(import.meta.dir, "engine/server.ts")], {
  stdin: "ignore",
  stdout: "pipe",
  stderr: "inherit",
});
try {
  const serverUrl = await firstUrl(server.stdout);
  const rows: Row[] = [];
  const versions = new Set<string>();
  for (const planned of cellsOf(flags.quick)) {
    if (!flags.only.some((text) => nameOf(planned.cell).startsWith(text))) continue;
    const runs = await measure(planned, serverUrl);
    for (const { version } of runs.values().flatMap((each) => each)) versions.add(version);
    rows.push(rowOf(planned, runs));
  }
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? "?"}, load ${loadavg()
    .map((l) => l.toFixed(1))
    .join(" ")}`;
  const verdicts = judge(rows);
  console.log(
    `${machine}; ${[...versions].join("; ")}; medians of ${rounds} interleaved round${rounds === 1 ? "" : "s"}`,
  );
  printTable(rows);
  printVerdicts(verdicts);
  mkdirSync(dirname(flags.json), { recursive: true });
  await Bun.write(
    flags.json,
    `${JSON.stringify({ machine, versions: [...versions], rounds, rows, verdicts }, null, 2)}\n`,
  );
  console.log(`Written to ${flags.json}`);
  if (flags.check && verdicts.some(({ met }) => !met)) process.exitCode = 1;
} finally {
  server.kill();
  await server.exited;
  rmSync(folder, { recursive: true, force: true });
}

/** Drivers take turns within a round, and another one begins each round: load falls on all of them. */
async function measure(
  { cell, drivers }: Planned,
  serverUrl: string,
): Promise<ReadonlyMap<DriverName, readonly Run[]>> {
  const planPath = join(folder, "plan.json");
  await Bun.write(planPath, JSON.stringify(makePlanFile(language, cell)));
  const problemsPath = join(folder, "problems.jsonl");
  await Bun.write(problemsPath, makeProblemFile(language, cell));
  const present = drivers.filter((driver) => driver !== "python" || env.ok);
  const runs = new Map<DriverName, Run[]>(present.map((driver) => [driver, []]));
  for (let round = 0; round < rounds; round++) {
    const turn = present
      .map((_, i) => present[(i + round) % present.length])
      .filter((each) => each !== undefined);
    for (const driver of turn) {
      const place = { serverUrl, planPath, problemsPath, python: env.ok ? env.python : "" };
      const verify = flags.verify && round === 0;
      const run = await runCell(driver, cell, place, verify).catch((error: unknown) => {
        // A peer that loses its connections must not take what was measured with it.
        if (driver === "interlace") throw error;
        console.error(`  ${nameOf(cell)}: ${driver} failed: ${String(error)}`);
        return null;
      });
      if (run === null) continue;
      runs.get(driver)?.push(run);
      console.error(
        `  ${nameOf(cell)}: ${driver} ${(run.cpuMs / run.turns).toFixed(3)} ms per turn, load ${run.load.toFixed(1)}`,
      );
      if (run.verified !== null) {
        const { seconds, peakBytes } = run.verified;
        console.error(
          `  ${nameOf(cell)}: verify: ${describeVerified(run.verified)}, ${seconds.toFixed(1)} s, ${(peakBytes / 2 ** 30).toFixed(1)} GB`,
        );
      }
    }
  }
  return runs;
}

function rowOf({ cell }: Planned, runs: ReadonlyMap<DriverName, readonly Run[]>): Row {
  const of = (driver: DriverName, read: (run: Run) => number): number | null => {
    const values = runs.get(driver)?.map(read) ?? [];
    return values.length === 0 ? null : median(values);
  };
  const perTurn = (run: Run): number => run.cpuMs / run.turns;
  const perToken = (run: Run): number => run.grownBytes / run.liveTokens;
  const overCritical = (run: Run): number => sum(run.wallMs) / sum(run.criticalMs);
  const interlace = of("interlace", perTurn) ?? Number.NaN;
  const bare = of("bare", perTurn);
  const python = of("python", perTurn);
  const isTail = cell.latency !== null;
  return {
    name: nameOf(cell),
    cell,
    interlace,
    bare,
    python,
    server: of("interlace", (run) => run.serverCpuMs / run.turns) ?? Number.NaN,
    arrowShare: of("interlace", (run) => (run.parts["arrow"] ?? 0) / run.cpuMs) ?? Number.NaN,
    toBare: bare === null ? null : interlace / bare,
    toPython: python === null ? null : interlace / python,
    toCritical: isTail ? of("interlace", overCritical) : null,
    bareToCritical: isTail ? of("bare", overCritical) : null,
    pythonToCritical: isTail ? of("python", overCritical) : null,
    bytesPerToken: of("interlace", perToken) ?? Number.NaN,
    bareBytesPerToken: of("bare", perToken),
    pythonBytesPerToken: of("python", perToken),
    verified: runs.get("interlace")?.find(({ verified }) => verified !== null)?.verified ?? null,
    load: median([...runs.values()].flat().map(({ load }) => load)),
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? Number.NaN;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

async function firstUrl(stdout: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  for await (const chunk of stdout) {
    text += new TextDecoder().decode(chunk);
    if (text.includes("\n")) return (JSON.parse(text) as { readonly url: string }).url;
  }
  throw new Error("Expected the mock server to print its URL, it ended");
}
