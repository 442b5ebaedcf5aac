/** Faults at every boundary: only the trajectories that were hit fail, and every token is accounted for. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { rmSync } from "node:fs";
import { newFolder } from "../support/cli.ts";
import { FAULT_KINDS } from "./inject.ts";
import { strike } from "./strike.ts";

setDefaultTimeout(300_000);

test("12 kinds of faults at 3% each: only what was hit fails, the ledger balances in both units", async () => {
  const folder = newFolder();
  const seen = await strike({ folder, problems: 100, groupSize: 8, seed: 3, rate: 0.03 });
  expect(seen.wrong).toEqual([]);
  expect(FAULT_KINDS).toHaveLength(12);
  expect(Object.keys(seen.hit).toSorted()).toEqual(FAULT_KINDS.toSorted());
  expect(seen.trajectories).toBe(800);
  rmSync(folder, { recursive: true });
});
