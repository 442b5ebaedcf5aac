/** Which cells are measured, and by whom. `quick` shows each kind of row in less than two minutes. */
import type { Cell } from "./workload.ts";

export type DriverName = "interlace" | "bare" | "python";
export type Planned = { readonly cell: Cell; readonly drivers: readonly DriverName[] };

const ALL: readonly DriverName[] = ["interlace", "bare", "python"];
const PLAIN = {
  wire: "vllm",
  shape: "2k",
  observation: 1,
  live: 512,
  latency: null,
  batches: 2,
  schedule: "continuous",
} as const;
const TAIL = { medianMs: 700, sigma: 0.9 } as const;

export function cellsOf(quick: boolean): readonly Planned[] {
  const plan = (change: Partial<Cell>, drivers: readonly DriverName[] = ALL): Planned => ({
    cell: { ...PLAIN, ...change },
    drivers,
  });
  const latency = quick ? { ...TAIL, medianMs: 350 } : TAIL;
  const live = quick ? 256 : 512;
  const cells = [
    plan({ live }),
    plan({ live, observation: 100 }),
    plan({ live, shape: "8k", batches: 1 }),
    plan({ latency, batches: 1 }),
  ];
  if (quick) return cells;
  return [
    ...cells,
    plan({ shape: "8k", observation: 100, batches: 1 }),
    plan({ live: 64, batches: 8 }),
    plan({ shape: "32k", live: 64, batches: 1 }),
    // Bun's server closes a new connection that is silent for some seconds, whatever its `idleTimeout`. Python's loop opens
    // all of them before it has written so much to any.
    plan({ shape: "32k", batches: 1 }, ["interlace", "bare"]),
    plan({ live: 4096, batches: 1 }, ["interlace", "bare"]),
    plan({ live: 10_000, batches: 1 }, ["interlace", "bare"]),
    plan({ wire: "vllm_completions" }),
    plan({ wire: "sglang" }),
    plan({ latency, batches: 1, shape: "8k" }),
    plan({ latency, batches: 1, schedule: "rounds" }, ["interlace"]),
    plan({ latency: { ...TAIL, medianMs: 2800 }, batches: 1, live: 4096 }),
  ];
}

export function nameOf({ wire, shape, observation, live, latency, schedule }: Cell): string {
  const delay = latency === null ? "" : `, ${latency.medianMs} ms σ ${latency.sigma}`;
  const order = schedule === "continuous" ? "" : `, ${schedule}`;
  return `${wire} ${shape}, obs ${observation}, ${live} live${delay}${order}`;
}
