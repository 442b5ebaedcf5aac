/**
 * Version 1.0 of the two tables, byte for byte. Changing what is written is a decision: readers of the old form are out
 * there. A new minor version gets a new pair of files beside these; `UPDATE_GOLDEN=1` writes the current one.
 * A file with a longer name has the same rows in other record batches, as they were written before.
 */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import {
  encodeIpc,
  readDatums,
  readTrajectories,
  SCHEMA_VERSION,
  trajectoryTable,
} from "../../src/index.ts";
import { datumTable } from "../../src/datum-batches.ts";
import { CONTEXT, literalStep, TRAJECTORY_OPTIONS } from "../support/sample-step.ts";

const folder = join(import.meta.dir, "../golden");
const step = literalStep();
const tables = {
  datums: datumTable(step, CONTEXT),
  trajectories: trajectoryTable(step, CONTEXT, TRAJECTORY_OPTIONS),
};

describe.each(["datums", "trajectories"] as const)("%s", (table) => {
  const path = join(folder, `${table}-${SCHEMA_VERSION}.arrow`);
  const bytes = new Uint8Array(Buffer.concat([...encodeIpc(tables[table], "file")].flat()));

  test("has the bytes that it had", async () => {
    if (Bun.env["UPDATE_GOLDEN"] !== undefined) await Bun.write(path, bytes);
    expect(Buffer.from(bytes).equals(await Bun.file(path).bytes())).toBe(true);
  });
});

test("every version that was ever written is read", async () => {
  const old = await Array.fromAsync(new Bun.Glob("*.arrow").scan(folder));
  expect(old.length).toBeGreaterThanOrEqual(2);
  for (const name of old) {
    const path = join(folder, name);
    if (name.startsWith("datums")) {
      const [rows] = readDatums(path).microBatches;
      expect(rows?.map(({ datum }) => datum.turnEnds.at(-1))).toEqual([10, 4]);
    } else {
      expect([...readTrajectories(path).rows].length).toBe(4);
    }
  }
});

test("the same trajectories are read from either layout", () => {
  const rowsOf = (name: string) => [...readTrajectories(join(folder, name)).rows];
  expect(rowsOf("trajectories-1.0-batch-per-group.arrow")).toEqual(
    rowsOf("trajectories-1.0.arrow"),
  );
});
