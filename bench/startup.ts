/**
 * From `bun run rollout` to the first request that a server sees, and to the first sample of the run (after the
 * handshake), with a real tokenizer.
 *
 *   bun run bench startup [--check] [--rounds N]
 *
 * Method: a server here notes when requests come in and hands them on to the mock; the command is ended at its first
 * sample. Wall time, and beside it the CPU that the command had used by then, which load stretches less. The first
 * start, which may have a tokenizer to pack, is not counted.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Cell } from "./engine/workload.ts";
import { MODEL_FOLDER } from "./support/qwen.ts";

const { values: flags } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    check: { type: "boolean", default: false },
    rounds: { type: "string" },
  },
});
const rounds = Number(flags.rounds ?? (flags.quick ? 3 : 7));
const GOAL_MS = 500;
const ROOT = join(import.meta.dir, "..");
const CELL: Cell = {
  wire: "vllm",
  shape: "2k",
  observation: 1,
  live: 8,
  latency: null,
  batches: 1,
  schedule: "continuous",
};
/** A handshake's prompts are a few ids; a problem's have hundreds. */
const LONG_BODY = 1500;

type Seen = { readonly wallMs: number; readonly cpuMs: number };
type Arrivals = { first: Seen | null; sample: Seen | null };

const mock = Bun.spawn([process.execPath, join(import.meta.dir, "engine/server.ts")], {
  stdin: "ignore",
  stdout: "pipe",
  stderr: "inherit",
});
let note: (bytes: number) => void = () => {};
try {
  const mockUrl = await firstUrl(mock.stdout);
  await fetch(`${mockUrl}/bench/cell`, { method: "POST", body: JSON.stringify(CELL) });
  using front = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      note(Number(request.headers.get("content-length") ?? 0));
      const { pathname } = new URL(request.url);
      const body = request.method === "POST" ? await request.bytes() : null;
      return fetch(mockUrl + pathname, { method: request.method, body });
    },
  });
  const url = `http://127.0.0.1:${front.port}`;
  await startOnce(url);
  const runs: { readonly first: Seen; readonly sample: Seen }[] = [];
  for (let round = 0; round < rounds; round++) runs.push(await startOnce(url));
  const show = (name: "first" | "sample", read: keyof Seen): string =>
    median(runs.map((run) => run[name][read])).toFixed(0);
  console.log(
    `load ${loadavg()
      .map((l) => l.toFixed(1))
      .join(" ")}; medians of ${rounds} starts`,
  );
  console.log(
    `first request after ${show("first", "wallMs")} ms (CPU ${show("first", "cpuMs")} ms)`,
  );
  console.log(
    `first sample after ${show("sample", "wallMs")} ms (CPU ${show("sample", "cpuMs")} ms)`,
  );
  const seen = median(runs.map(({ first }) => first.wallMs));
  console.log(
    `${seen <= GOAL_MS ? "met   " : "MISSED"}  start to first request ${seen.toFixed(0)} ms, goal ≤ ${GOAL_MS}`,
  );
  if (flags.check && seen > GOAL_MS) process.exitCode = 1;
} finally {
  mock.kill();
  await mock.exited;
}

async function startOnce(url: string): Promise<{ readonly first: Seen; readonly sample: Seen }> {
  const out = mkdtempSync(join(tmpdir(), "interlace-bench-startup-"));
  const sampled = Promise.withResolvers<null>();
  const arrivals: Arrivals = { first: null, sample: null };
  const began = performance.now();
  const args = [
    "--sampler",
    "vllm",
    "--url",
    url,
    "--tokenizer",
    MODEL_FOLDER,
    "--require",
    "none",
    "--out",
    out,
  ];
  // A group of its own: the command and whatever it starts.
  const child = Bun.spawn([process.execPath, "run", "rollout", ...args], {
    cwd: ROOT,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
    detached: true,
  });
  note = (bytes) => {
    const seen = { wallMs: performance.now() - began, cpuMs: groupCpuMs(child.pid) };
    arrivals.first ??= seen;
    if (bytes < LONG_BODY || arrivals.sample !== null) return;
    arrivals.sample = seen;
    sampled.resolve(null);
  };
  await Promise.race([sampled.promise, child.exited]);
  const { first, sample } = arrivals;
  const told = sample === null ? await child.stderr.text() : "";
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // It ended by itself, and its words are told below.
  }
  await child.exited;
  rmSync(out, { recursive: true, force: true });
  if (first === null || sample === null)
    throw new Error(`Expected the command to sample, it said: ${told}`);
  return { first, sample };
}

/** Linux counts CPU in hundredths of a second; other systems tell nothing here. */
function groupCpuMs(group: number): number {
  let ticks = 0;
  try {
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name)))
      ticks += ticksOf(pid, group);
  } catch {
    return Number.NaN;
  }
  return ticks * 10;
}

function ticksOf(pid: string, group: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // State, parent, group, …; user, system, and those of children that were waited for.
    return Number(fields[2]) === group
      ? fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
      : 0;
  } catch {
    return 0;
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? Number.NaN;
}

async function firstUrl(stdout: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  for await (const chunk of stdout) {
    text += new TextDecoder().decode(chunk);
    if (text.includes("\n")) return (JSON.parse(text) as { readonly url: string }).url;
  }
  throw new Error("Expected the mock server to print its URL, it ended");
}
