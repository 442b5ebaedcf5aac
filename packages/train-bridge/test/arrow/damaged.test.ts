/** Bytes over which the Arrow library would loop for ever: refused in one sentence, at once. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readDatums, readTrajectories } from "../../src/index.ts";

const golden = (name: string): Uint8Array =>
  Uint8Array.from(readFileSync(join(import.meta.dir, `../golden/${name}-1.0.arrow`)));
const good = golden("trajectories");

/** Places of the file, found by its own footer: nothing of our reader is used. */
function places(bytes: Uint8Array) {
  const view = new DataView(bytes.buffer);
  const end = bytes.length - 10;
  const footer = end - view.getInt32(end, true);
  const table = footer + view.getInt32(footer, true);
  const fieldOf = (at: number, index: number): number => {
    const vtable = at - view.getInt32(at, true);
    return at + view.getUint16(vtable + 4 + 2 * index, true);
  };
  const blocks = fieldOf(table, 3);
  const list = blocks + view.getInt32(blocks, true);
  const block = list + 4;
  const message = Number(view.getBigInt64(block, true));
  const start = message + 8;
  const root = start + view.getInt32(start, true);
  const header = fieldOf(root, 2);
  const batch = header + view.getInt32(header, true);
  const nodes = fieldOf(batch, 1);
  return {
    blocks: list,
    kind: fieldOf(root, 1),
    bodyLength: fieldOf(root, 3),
    rows: fieldOf(batch, 0),
    nodes: nodes + view.getInt32(nodes, true),
  };
}

function damage(change: (view: DataView, at: ReturnType<typeof places>) => void): Uint8Array {
  const bytes = good.slice();
  change(new DataView(bytes.buffer), places(bytes));
  return bytes;
}

const read = (bytes: Uint8Array): number => [...readTrajectories(bytes).rows].length;

test("the undamaged file is read", () => {
  expect(read(good)).toBeGreaterThan(0);
  expect([...readDatums(golden("datums")).microBatches].length).toBeGreaterThan(0);
});

describe("a length that cannot be", () => {
  test.each<[string, (view: DataView, at: ReturnType<typeof places>) => void, RegExp]>([
    [
      "a billion columns",
      (view, at) => view.setInt32(at.nodes, 2 ** 30, true),
      /a list of 1073741824 items/,
    ],
    [
      "a billion batches",
      (view, at) => view.setInt32(at.blocks, 2 ** 30, true),
      /a list of 1073741824 items/,
    ],
    [
      "more rows than bits",
      (view, at) => view.setBigInt64(at.rows, 2n ** 40n, true),
      /1099511627776 values/,
    ],
    [
      "a body that ends before it begins",
      (view, at) => view.setBigInt64(at.bodyLength, -64n, true),
      /a body of -64 bytes/,
    ],
    [
      "a batch that is none",
      (view, at) => view.setInt8(at.kind, 9),
      /no batch at \d+, as its footer says/,
    ],
  ])("%s", (_, change, message) => {
    expect(() => read(damage(change))).toThrow(message);
  });
});

test("offsets that point outside their values, column named", () => {
  // Every run of rising 32-bit offsets of the file, one of them set to a billion.
  const view = new DataView(good.buffer);
  let tried = 0;
  for (let at = 8; at + 12 < good.length; at += 4) {
    const [a, b, c] = [0, 4, 8].map((i) => view.getInt32(at + i, true)) as [number, number, number];
    if (a !== 0 || b <= 0 || c < b || c > good.length) continue;
    const bytes = good.slice();
    new DataView(bytes.buffer).setInt32(at + 4, 2 ** 30, true);
    try {
      read(bytes);
    } catch (error) {
      if (/Expected offsets of [\w.]+ to rise/.test((error as Error).message)) tried += 1;
    }
  }
  expect(tried).toBeGreaterThan(10);
});
