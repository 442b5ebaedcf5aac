import { availableParallelism } from "node:os";
import { expect, test } from "bun:test";
import { createSandbox } from "../../src/index.ts";
import { testPython } from "../conformance/differential.ts";
import { footprint, soak } from "./soak.ts";
import "../conformance/patience.ts";

/** 10,000 by `INTERLACE_SOAK_CALLS=10000 bun test packages/sandbox/test/soak`. */
const CALLS = Number(process.env["INTERLACE_SOAK_CALLS"] ?? 1000);
const { path: python } = await testPython();

test(`${CALLS} mixed calls: no wrong answer, and the same processes, descriptors and memory`, async () => {
  await using sandbox = await createSandbox({ backend: "zygote", python, concurrency: 4 });
  const spare = Math.min(8, 2 * availableParallelism());
  // The engine's heap reaches its level in some thousand calls: 20,000 end where 10,000 do.
  expect(await soak(sandbox, CALLS > 1000 ? 3000 : 300, 6)).toEqual([]);
  const before = await footprint(spare);
  expect(await soak(sandbox, CALLS, 6)).toEqual([]);
  const after = await footprint(spare);
  console.log("before", before, "after", after);
  const { processes, descriptors, templateDescriptors } = before;
  expect(after).toMatchObject({ processes, descriptors, templateDescriptors });
  expect(after.templateMemory - before.templateMemory).toBeLessThan(5);
  expect(after.engineMemory - before.engineMemory).toBeLessThan(CALLS > 1000 ? 5 : 20);
  expect(sandbox.statistics()).toMatchObject({ sandboxErrors: 0, retries: 0 });
}, 600_000);
