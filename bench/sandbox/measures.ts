import { createSemaphore } from "../../packages/sandbox/src/semaphore.ts";
import type { Contenders, Run } from "./contenders.ts";

export type Measured = {
  readonly ratio: number;
  /** Figures behind the ratio, in calls per second or milliseconds. */
  readonly shown: Readonly<Record<string, number>>;
};

export type Measure = {
  readonly name: string;
  readonly goal: number;
  readonly atLeast: boolean;
  readonly run: (contenders: Contenders, round: number) => Promise<Measured>;
};

const PRINT = "print(1)";
const IMPORTS = "import numpy, sympy\nprint(1)";
const NEVER = new AbortController().signal;

type Burst = {
  readonly rate: number;
  readonly median: number;
  /** 95th percentile of the time from a granted slot to the end, in milliseconds. */
  readonly p95: number;
};

/** `callers` at once, `calls` in all, at most `slots` under way. */
async function burst(
  run: Run,
  code: string,
  calls: number,
  callers: number,
  slots = callers,
): Promise<Burst> {
  const semaphore = createSemaphore(slots);
  const times: number[] = [];
  let left = calls;
  const start = performance.now();
  async function caller(): Promise<void> {
    while (left > 0) {
      left -= 1;
      const release = await semaphore.acquire(NEVER);
      const began = performance.now();
      await run(code);
      times.push(performance.now() - began);
      release();
    }
  }
  await Promise.all(Array.from({ length: callers }, caller));
  const seconds = (performance.now() - start) / 1000;
  const sorted = times.sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)]!;
  return { rate: calls / seconds, median: at(0.5), p95: at(0.95) };
}

/** Two bursts, the one first in even rounds and the other in odd ones. */
async function inTurn<T>(
  round: number,
  first: () => Promise<T>,
  second: () => Promise<T>,
): Promise<readonly [T, T]> {
  if (round % 2 === 0) {
    const one = await first();
    return [one, await second()];
  }
  const two = await second();
  return [await first(), two];
}

export const MEASURES: readonly Measure[] = [
  {
    name: "import numpy, sympy, 8 callers: calls/s of the pool ÷ plain",
    goal: 25,
    atLeast: true,
    async run({ pool, plain }, round) {
      const [ours, theirs] = await inTurn(
        round,
        () => burst(pool, IMPORTS, 160, 8),
        () => burst(plain, IMPORTS, 8, 8),
      );
      return { ratio: ours.rate / theirs.rate, shown: { pool: ours.rate, plain: theirs.rate } };
    },
  },
  {
    name: "print(1), 8 callers: calls/s of the pool ÷ plain",
    goal: 1.3,
    atLeast: true,
    async run({ pool, plain, bareStart }, round) {
      const [ours, theirs] = await inTurn(
        round,
        () => burst(pool, PRINT, 120, 8),
        () => burst(plain, PRINT, 120, 8),
      );
      const bare = await burst(bareStart, PRINT, 120, 8);
      const shown = { pool: ours.rate, plain: theirs.rate, "plain without packages": bare.rate };
      return { ratio: ours.rate / theirs.rate, shown };
    },
  },
  {
    name: "print(1), 1 caller: median time of the pool ÷ plain",
    goal: 1,
    atLeast: false,
    async run({ pool, plain, bareStart }, round) {
      const [ours, theirs] = await inTurn(
        round,
        () => burst(pool, PRINT, 60, 1),
        () => burst(plain, PRINT, 60, 1),
      );
      const bare = await burst(bareStart, PRINT, 60, 1);
      return {
        ratio: ours.median / theirs.median,
        shown: { pool: ours.median, plain: theirs.median, "plain without packages": bare.median },
      };
    },
  },
  ...[1, 8].map((callers): Measure => ({
    name: `print(1), ${callers} caller${callers === 1 ? "" : "s"}: time per call in the full jail ÷ fork only`,
    goal: 1.25,
    atLeast: false,
    async run({ pool, forkOnly }, round) {
      const [jailed, bare] = await inTurn(
        round,
        () => burst(pool, PRINT, 80, callers),
        () => burst(forkOnly, PRINT, 80, callers),
      );
      return {
        ratio: bare.rate / jailed.rate,
        shown: { jailed: 1000 / jailed.rate, bare: 1000 / bare.rate },
      };
    },
  })),
  {
    name: "64 callers, slots = cores: 95th percentile of a run ÷ slots = 64",
    goal: 0.2,
    atLeast: false,
    async run({ pool, cores }, round) {
      const [few, many] = await inTurn(
        round,
        () => burst(pool, PRINT, 256, 64, cores),
        () => burst(pool, PRINT, 256, 64, 64),
      );
      return { ratio: few.p95 / many.p95, shown: { few: few.p95, many: many.p95 } };
    },
  },
  {
    name: "64 callers, slots = cores: calls/s ÷ slots = 64",
    goal: 0.9,
    atLeast: true,
    async run({ pool, cores }, round) {
      const [few, many] = await inTurn(
        round,
        () => burst(pool, PRINT, 256, 64, cores),
        () => burst(pool, PRINT, 256, 64, 64),
      );
      return { ratio: few.rate / many.rate, shown: { few: few.rate, many: many.rate } };
    },
  },
];
