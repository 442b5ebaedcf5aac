/**
 * Which groups of `trajectories.arrow` share a record batch; and that nobody who reads the rows can tell. The oracle is
 * the layout of one batch per group, as it was written before.
 */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { prepareStep, type Group, type StepDatums, type ToolCall } from "@interlace/core";
import {
  encodeIpc,
  readTrajectories,
  trajectoryTable,
  writeTrajectories,
  type ArrowTable,
} from "../../src/index.ts";
import { askPython, HAS_PYTHON } from "../support/python.ts";
import {
  callPrinting,
  CONTEXT,
  drawnStep,
  group,
  member,
  TRAJECTORY_OPTIONS,
  type HandTurn,
} from "../support/sample-step.ts";
import { temporaryFolder } from "../support/temporary.ts";

const tableOf = (step: StepDatums) => trajectoryTable(step, CONTEXT, TRAJECTORY_OPTIONS);

/** The same rows, each group in a record batch of its own. */
function groupByGroup(step: StepDatums): ArrowTable {
  const groups = Map.groupBy(step.trajectories, (trajectory) => trajectory.group);
  const batches = [...groups.values()].flatMap((trajectories) => [
    ...tableOf({ ...step, trajectories }).batches,
  ]);
  return { schema: tableOf(step).schema, batches };
}

async function write(path: string, table: ArrowTable): Promise<void> {
  await Bun.write(path, Buffer.concat([...encodeIpc(table, "file")].flat()));
}

/** Rows of each record batch. */
const layoutOf = (step: StepDatums): number[] =>
  [...tableOf(step).batches].map((batch) => batch.rows);

function stepOf(groups: readonly Group[]): StepDatums {
  return prepareStep(groups, { maxContextTokens: 10_000_000 });
}

/** Groups of so many members, all alike. */
function groupsOf(
  groups: number,
  members: number,
  turn: HandTurn,
  toolCalls: readonly ToolCall[] = [],
): StepDatums {
  return stepOf(
    Array.from({ length: groups }, (_, question) =>
      group(
        question,
        Array.from({ length: members }, (__, index) =>
          member(index, [turn], { kind: "equal", answer: "42", by: "native" }, { toolCalls }),
        ),
      ),
    ),
  );
}

const SHORT: HandTurn = { before: [1], sampled: [2], logprobs: [-1] };
const longOf = (tokens: number): HandTurn => ({
  ...SHORT,
  before: Array<number>(tokens - 1).fill(1),
});

describe("a record batch", () => {
  test("has up to 256 rows, of whole groups", () => {
    expect(layoutOf(groupsOf(32, 8, SHORT))).toEqual([256]);
    expect(layoutOf(groupsOf(33, 8, SHORT))).toEqual([256, 8]);
    // 36 × 7 = 252, and another group would be 259.
    expect(layoutOf(groupsOf(40, 7, SHORT))).toEqual([252, 28]);
  });

  test("has up to a quarter of a million tokens", () => {
    // Two groups of 2 × 2^16 tokens are 2^18.
    expect(layoutOf(groupsOf(5, 2, longOf(2 ** 16)))).toEqual([4, 4, 2]);
  });

  test("counts what was run and printed", () => {
    const printing = callPrinting("x".repeat(3 * 2 ** 18));
    expect(layoutOf(groupsOf(4, 2, SHORT, [printing]))).toEqual([4, 4]);
  });

  test("is one group's where it is larger than that alone", () => {
    expect(layoutOf(groupsOf(2, 300, SHORT))).toEqual([300, 300]);
    expect(layoutOf(groupsOf(3, 1, longOf(1_200_000)))).toEqual([1, 1, 1]);
  });

  test("is missing where there is no trajectory", () => {
    expect(layoutOf(stepOf([]))).toEqual([]);
  });
});

test("memory that is used again gives the bytes of fresh memory, whether batches grow or shrink", async () => {
  await using folder = await temporaryFolder();
  const one = drawnStep(200, 5).trajectories;
  const large = groupsOf(2, 300, longOf(900)).trajectories;
  for (const trajectories of [one, [...large, ...one], [...one, ...large]]) {
    const step = { ...drawnStep(1, 5), trajectories };
    expect(layoutOf(step).length).toBeGreaterThan(3);
    const fresh = [...encodeIpc(tableOf(step), "file")].flat();
    const path = join(folder.path, "reused.arrow");
    await writeTrajectories(path, step, CONTEXT, TRAJECTORY_OPTIONS);
    expect(Buffer.concat(fresh).equals(await Bun.file(path).bytes())).toBe(true);
  }
});

describe("rows are the same in whatever batches", () => {
  // 80 groups of 4 in two batches and 80.
  const step = drawnStep(80, 5);

  test("the layouts do differ", () => {
    expect(layoutOf(step)).toEqual([256, 64]);
    expect([...groupByGroup(step).batches].length).toBe(80);
  });

  test("for our reader", async () => {
    await using folder = await temporaryFolder();
    const [together, apart] = [join(folder.path, "a.arrow"), join(folder.path, "b.arrow")];
    await writeTrajectories(together, step, CONTEXT, TRAJECTORY_OPTIONS);
    await write(apart, groupByGroup(step));
    const [a, b] = [readTrajectories(together), readTrajectories(apart)];
    expect([...a.rows]).toEqual([...b.rows]);
    expect(a.metadata).toEqual(b.metadata);
  });

  test.skipIf(!HAS_PYTHON)("for pyarrow and polars", async () => {
    await using folder = await temporaryFolder();
    const [together, apart] = [join(folder.path, "a.arrow"), join(folder.path, "b.arrow")];
    await writeTrajectories(together, step, CONTEXT, TRAJECTORY_OPTIONS);
    await write(apart, groupByGroup(step));
    const seen = await askPython(
      `
import json, sys, polars as pl, pyarrow as pa
tables = [pa.ipc.open_file(pa.memory_map(path)).read_all() for path in sys.argv[1:3]]
for table in tables:
    table.validate(full=True)
one, other = tables
frames = [pl.read_ipc(path) for path in sys.argv[1:3]]
print(json.dumps({
    "rows": one.num_rows,
    "pyarrow": one.equals(other, check_metadata=True) and one.to_pylist() == other.to_pylist(),
    "polars": frames[0].equals(frames[1]) and frames[0].to_dicts() == frames[1].to_dicts(),
}))`,
      [together, apart],
    );
    expect(seen).toEqual({ rows: 320, pyarrow: true, polars: true });
  });
});
