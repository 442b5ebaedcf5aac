/** What a driver measures of itself, and how it says so: one JSON line on stdout. */
export type Measured = {
  readonly driver: string;
  /** Assistant turns of the measured batches. */
  readonly turns: number;
  readonly cpuMs: number;
  /** By measured batch: from the first request to the last answer taken in. */
  readonly wallMs: readonly number[];
  /** Growth of the resident set over the last batch, before it is let go, and its live tokens. */
  readonly grownBytes: number;
  readonly liveTokens: number;
  readonly version: string;
  /** CPU milliseconds of parts, where a driver tells them. */
  readonly parts: Readonly<Record<string, number>>;
};

export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Where a batch begins, garbage is collected; where it ends, what it left lying counts. */
export function residentBytes(when: "before" | "after"): number {
  if (when === "before") Bun.gc(true);
  return process.memoryUsage.rss();
}

export function report(measured: Measured): void {
  console.log(JSON.stringify(measured));
}
